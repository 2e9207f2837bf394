"""Networks on images and signals, as a user of the library would write them."""

from __future__ import annotations

import math

import onemodel as om
from onemodel import nn
from onemodel.nn import functional as F


class Block(nn.Module):
    """Two convolutions beside a shortcut, as in a residual network."""

    def __init__(self, inside: int, outside: int, stride: int = 1) -> None:
        super().__init__()
        self.c1 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(outside)
        self.c2 = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(outside)
        self.d: nn.Module = nn.Identity()
        if stride != 1 or inside != outside:
            shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)
            self.d = nn.Sequential(shortcut, nn.BatchNorm2d(outside))

    def forward(self, x):
        y = F.relu(self.b1(self.c1(x)))
        return F.relu(self.b2(self.c2(y)) + self.d(x))


class ResNet(nn.Module):
    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, padding=1),
        )
        blocks, inside = [], width
        for outside, stride in ((8, 1), (8, 1), (16, 2), (16, 1), (32, 2), (32, 1)):
            blocks.append(Block(inside, outside, stride))
            inside = outside
        self.l = nn.Sequential(*blocks)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inside, 10)

    def forward(self, x):
        x = self.pool(self.l(self.stem(x)))
        return self.fc(om.flatten(x, 1))


def inverted_residual(inside: int, outside: int, stride: int, expansion: int) -> nn.Sequential:
    hidden = inside * expansion
    return nn.Sequential(
        nn.Conv2d(inside, hidden, 1, bias=False),
        nn.BatchNorm2d(hidden),
        nn.Hardswish(),
        nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
        nn.BatchNorm2d(hidden),
        nn.ReLU6(),
        nn.Conv2d(hidden, outside, 1, bias=False),
        nn.BatchNorm2d(outside),
    )


class MobileNet(nn.Module):
    """Inverted residuals, then squeeze and excitation."""

    def __init__(self) -> None:
        super().__init__()
        self.s = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.a = inverted_residual(8, 8, 1, 2)
        self.b = inverted_residual(8, 16, 2, 3)
        self.c = inverted_residual(16, 16, 1, 3)
        self.se1 = nn.Linear(16, 4)
        self.se2 = nn.Linear(4, 16)
        self.fc = nn.Linear(16, 7)

    def forward(self, x):
        x = self.s(x)
        x = x + self.a(x)
        x = self.b(x)
        x = x + self.c(x)
        squeezed = F.relu(self.se1(x.mean((2, 3))))
        gate = F.hardsigmoid(om.sigmoid(self.se2(squeezed)))
        x = x * gate[:, :, None, None]
        return self.fc(x.mean((-2, -1)))


def double(inside: int, outside: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inside, outside, 3, padding=1),
        nn.InstanceNorm2d(outside, affine=True),
        nn.LeakyReLU(0.1),
    )


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e1 = double(1, 6)
        self.e2 = double(6, 12)
        self.m = double(12, 24)
        self.u2 = nn.ConvTranspose2d(24, 12, 2, stride=2)
        self.d2 = double(24, 12)
        self.u1 = nn.ConvTranspose2d(12, 6, 2, stride=2)
        self.d1 = double(12, 6)
        self.o = nn.Conv2d(6, 2, 1)

    def fit(self, up, skip):
        """What is joined to the skip connection."""
        return up

    def forward(self, x):
        high = self.e1(x)
        middle = self.e2(F.max_pool2d(high, 2))
        low = self.m(F.max_pool2d(middle, 2))
        middle = self.d2(om.cat([self.fit(self.u2(low), middle), middle], 1))
        high = self.d1(om.cat([self.fit(self.u1(middle), high), high], 1))
        return self.o(high)


class UNetOdd(UNet):
    """Pads what comes up to the size of the skip connection, so that odd images fit."""

    def fit(self, up, skip):
        rows = skip.shape[2] - up.shape[2]
        columns = skip.shape[3] - up.shape[3]
        left, top = columns // 2, rows // 2
        return F.pad(up, [left, columns - left, top, rows - top])


class GroupNormNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.c = nn.Conv2d(3, 12, 3, padding=1)
        self.g = nn.GroupNorm(4, 12)
        self.d = nn.Conv2d(12, 12, 3, padding=2, dilation=2, groups=4)
        self.o = nn.PReLU(12)

    def forward(self, x):
        return self.o(self.d(F.silu(self.g(self.c(x)))))


class WeightNormConv1d(nn.Module):
    """A convolution whose weight is a direction and a length per output channel."""

    def __init__(self, inside: int, outside: int, kernel: int, padding: int) -> None:
        super().__init__()
        self.padding = padding
        self.bias = nn.Parameter(om.zeros(outside))
        self.parametrizations = nn.Module()
        self.parametrizations.weight = nn.Module()
        direction = om.randn(outside, inside, kernel)
        self.parametrizations.weight.original0 = nn.Parameter(self.length(direction))
        self.parametrizations.weight.original1 = nn.Parameter(direction)

    @staticmethod
    def length(direction):
        return om.sqrt((direction * direction).sum((1, 2), keepdim=True))

    def forward(self, x):
        direction = self.parametrizations.weight.original1
        weight = self.parametrizations.weight.original0 * direction / self.length(direction)
        return F.conv1d(x, weight, self.bias, padding=self.padding)


class WaveNet(nn.Module):
    """Dilated gated convolutions, then an upsampling one."""

    def __init__(self) -> None:
        super().__init__()
        self.i = nn.Conv1d(1, 8, 1)
        gates = [nn.Conv1d(8, 16, 3, padding=d, dilation=d) for d in (1, 2, 4)]
        self.f = nn.ModuleList(gates)
        self.o = nn.ModuleList([nn.Conv1d(8, 8, 1) for _ in gates])
        self.u = nn.ConvTranspose1d(8, 2, 8, stride=4, padding=2)
        self.w = WeightNormConv1d(2, 2, 3, padding=1)

    def forward(self, x):
        x = self.i(x)
        for gated, out in zip(self.f, self.o, strict=True):
            value, gate = gated(x).chunk(2, dim=1)
            x = x + out(om.tanh(value) * om.sigmoid(gate))
        return self.w(self.u(x))


class SuperResolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(1, 16, 5, padding=2)
        self.b = nn.Conv2d(16, 9, 3, padding=1)
        self.p = nn.PixelShuffle(3)

    def forward(self, x):
        detail = self.p(self.b(F.elu(self.a(x))))
        return detail + F.interpolate(x, scale_factor=3, mode="bilinear", align_corners=False)


class Upsampler(nn.Module):
    """Three ways to the double size, one of them by a size computed from the input's."""

    def __init__(self) -> None:
        super().__init__()
        self.c = nn.Conv2d(2, 4, 3, padding=1)

    def forward(self, x):
        y = self.c(x)
        size = (x.shape[2] * 2, x.shape[3] * 2)
        near = F.interpolate(y, scale_factor=2, mode="nearest")
        linear = F.interpolate(y, size=size, mode="bilinear", align_corners=True)
        cubic = F.interpolate(y, scale_factor=2.0, mode="bicubic", align_corners=False)
        return near + linear + cubic


class PadSame(nn.Module):
    """Padding as TensorFlow has it: as much as the stride leaves over, computed from the size."""

    def __init__(self) -> None:
        super().__init__()
        self.c = nn.Conv2d(2, 3, 3, stride=2)

    def missing(self, size):
        return max((math.ceil(size / 2) - 1) * 2 + 3 - size, 0)

    def forward(self, x):
        rows, columns = (self.missing(size) for size in x.shape[-2:])
        around = [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2]
        return self.c(F.pad(x, around))
