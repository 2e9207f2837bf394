"""Models that PyTorch exported, written again with these modules, and their weights.

An exported file keeps the state-dict names of most weights; matrices of linear layers are
transposed into ``MatMul``, gates of recurrent layers reordered, batch norms folded into
convolutions. :func:`weights_of` undoes that.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

import onemodel as om
from onemodel import nn
from onemodel.nn import functional as F


class Block(nn.Module):
    def __init__(self, i: int, o: int, stride: int = 1) -> None:
        super().__init__()
        self.c1 = nn.Conv2d(i, o, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(o)
        self.c2 = nn.Conv2d(o, o, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(o)
        self.d: nn.Module = nn.Identity()
        if stride != 1 or i != o:
            self.d = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o))

    def forward(self, x: om.Tensor) -> om.Tensor:
        return F.relu(self.b2(self.c2(F.relu(self.b1(self.c1(x))))) + self.d(x))


class ResNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        w = 8
        self.stem = nn.Sequential(
            nn.Conv2d(3, w, 7, 2, 3, bias=False),
            nn.BatchNorm2d(w),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, 1),
        )
        self.l = nn.Sequential(
            Block(w, w), Block(w, w), Block(w, 2 * w, 2), Block(2 * w, 2 * w),
            Block(2 * w, 4 * w, 2), Block(4 * w, 4 * w),
        )  # fmt: skip
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4 * w, 10)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        return self.fc(F.flatten(self.pool(self.l(self.stem(x0))), 1))


class MobileNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()

        def inverted(i: int, o: int, stride: int, expand: int) -> nn.Sequential:
            h = i * expand
            return nn.Sequential(
                nn.Conv2d(i, h, 1, bias=False), nn.BatchNorm2d(h), nn.Hardswish(),
                nn.Conv2d(h, h, 3, stride, 1, groups=h, bias=False), nn.BatchNorm2d(h), nn.ReLU6(),
                nn.Conv2d(h, o, 1, bias=False), nn.BatchNorm2d(o),
            )  # fmt: skip

        self.s = nn.Conv2d(3, 8, 3, 2, 1)
        self.a = inverted(8, 8, 1, 2)
        self.b = inverted(8, 16, 2, 3)
        self.c = inverted(16, 16, 1, 3)
        self.se1 = nn.Linear(16, 4)
        self.se2 = nn.Linear(4, 16)
        self.fc = nn.Linear(16, 7)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        x = self.s(x0)
        x = x + self.a(x)
        x = self.b(x)
        x = x + self.c(x)
        g = F.sigmoid(self.se2(F.relu(self.se1(x.mean((2, 3))))))
        x = x * F.hardsigmoid(g)[:, :, None, None]
        return self.fc(x.mean((-2, -1)))


class UNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()

        def conv(i: int, o: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Conv2d(i, o, 3, 1, 1), nn.InstanceNorm2d(o, affine=True), nn.LeakyReLU(0.1)
            )

        self.e1, self.e2, self.m = conv(1, 6), conv(6, 12), conv(12, 24)
        self.u2 = nn.ConvTranspose2d(24, 12, 2, 2)
        self.d2 = conv(24, 12)
        self.u1 = nn.ConvTranspose2d(12, 6, 2, 2)
        self.d1 = conv(12, 6)
        self.o = nn.Conv2d(6, 2, 1)

    def fit(self, up: om.Tensor, skip: om.Tensor) -> om.Tensor:
        return up

    def forward(self, x0: om.Tensor) -> om.Tensor:
        a = self.e1(x0)
        b = self.e2(F.max_pool2d(a, 2))
        m = self.m(F.max_pool2d(b, 2))
        b = self.d2(F.cat([self.fit(self.u2(m), b), b], 1))
        return self.o(self.d1(F.cat([self.fit(self.u1(b), a), a], 1)))


class UNetOdd(UNet):
    """Pads the upsampled maps to the size of the skip."""

    def fit(self, up: om.Tensor, skip: om.Tensor) -> om.Tensor:
        dy, dx = skip.shape[2] - up.shape[2], skip.shape[3] - up.shape[3]
        return F.pad(up, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])


class Attention(nn.Module):
    def __init__(self, d: int, h: int, causal: bool = False, manual: bool = False) -> None:
        super().__init__()
        self.h, self.causal, self.manual = h, causal, manual
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)

    def forward(self, x: om.Tensor, mask: om.Tensor | None = None) -> om.Tensor:
        b, t, c = x.shape
        q, k, v = (
            part.view(b, t, self.h, c // self.h).transpose(1, 2) for part in self.qkv(x).split(c, 2)
        )
        if self.manual:
            a = q @ k.transpose(-2, -1) / math.sqrt(c // self.h)
            if self.causal:
                a = a.masked_fill(om.triu(om.ones((t, t), dtype=om.bool_), 1), float("-inf"))
            if mask is not None:
                a = a.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
            y = F.softmax(a, -1) @ v
        else:
            allowed = None if mask is None else mask[:, None, None, :].to(om.bool_)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed, is_causal=self.causal)
        return self.o(y.transpose(1, 2).contiguous().view(b, t, c))


class Encoder(nn.Module):
    def __init__(self, d: int = 32, h: int = 4, **options: bool) -> None:
        super().__init__()
        self.a = Attention(d, h, **options)
        self.n1 = nn.LayerNorm(d)
        self.n2 = nn.LayerNorm(d)
        self.f = nn.Sequential(nn.Linear(d, 64), nn.GELU(), nn.Linear(64, d))

    def forward(self, x: om.Tensor, mask: om.Tensor | None = None) -> om.Tensor:
        x = self.n1(x + self.a(x, mask))
        return self.n2(x + self.f(x))


class Bert(nn.Module):
    def __init__(self, manual: bool = False) -> None:
        super().__init__()
        self.e, self.p, self.t = nn.Embedding(60, 32), nn.Embedding(64, 32), nn.Embedding(2, 32)
        self.n = nn.LayerNorm(32)
        self.b = nn.ModuleList([Encoder(manual=manual) for _ in range(2)])
        self.pool = nn.Linear(32, 32)
        self.c = nn.Linear(32, 3)

    def forward(self, x0: om.Tensor, x1: om.Tensor):
        positions = self.p(om.arange(x0.shape[1]))[None]
        x = self.n(self.e(x0) + positions + self.t(om.zeros_like(x0)))
        for block in self.b:
            x = block(x, x1)
        return self.c(om.tanh(self.pool(x[:, 0]))), x


class GPT(nn.Module):
    def __init__(self, manual: bool = True) -> None:
        super().__init__()
        self.e, self.p = nn.Embedding(60, 32), nn.Embedding(64, 32)
        self.b = nn.ModuleList([Encoder(causal=True, manual=manual) for _ in range(2)])
        self.n = nn.LayerNorm(32)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        x = self.e(x0) + self.p(om.arange(x0.size(1)))
        for block in self.b:
            x = block(x)
        return self.n(x) @ self.e.weight.t()


class TorchTransformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.l = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        self.m = nn.MultiheadAttention(32, 2, batch_first=True)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        y = self.l(x0)
        return self.m(y, x0, x0, need_weights=False)[0]


class Tagger(nn.Module):
    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.e = nn.Embedding(50, 16)
        self.r = kind(16, 12, num_layers=2, bidirectional=True, batch_first=True)
        self.o = nn.Linear(24, 5)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        y, _ = self.r(self.e(x0))
        return F.log_softmax(self.o(y), -1)


class LSTMState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.r = nn.LSTM(6, 10)

    def forward(self, x0: om.Tensor, x1: om.Tensor, x2: om.Tensor):
        y, (h, c) = self.r(x0, (x1, x2))
        return y, h, c


class GroupNormNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.c = nn.Conv2d(3, 12, 3, padding=1)
        self.g = nn.GroupNorm(4, 12)
        self.d = nn.Conv2d(12, 12, 3, padding=2, dilation=2, groups=4)
        self.o = nn.PReLU(12)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        return self.o(self.d(F.silu(self.g(self.c(x0)))))


class WaveNet1d(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.i = nn.Conv1d(1, 8, 1)
        self.f = nn.ModuleList([nn.Conv1d(8, 16, 3, dilation=2**i, padding=2**i) for i in range(3)])
        self.o = nn.ModuleList([nn.Conv1d(8, 8, 1) for _ in range(3)])
        self.u = nn.ConvTranspose1d(8, 2, 8, 4, 2)
        self.w = nn.Conv1d(2, 2, 3, padding=1)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        x = self.i(x0)
        for f, o in zip(self.f, self.o, strict=True):
            a, b = f(x).chunk(2, 1)
            x = x + o(om.tanh(a) * om.sigmoid(b))
        return self.w(self.u(x))


class SuperResolution(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Conv2d(1, 16, 5, padding=2)
        self.b = nn.Conv2d(16, 9, 3, padding=1)
        self.p = nn.PixelShuffle(3)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        fine = self.p(self.b(F.elu(self.a(x0))))
        return fine + F.interpolate(x0, scale_factor=3, mode="bilinear", align_corners=False)


class BagClassifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = nn.Embedding(80, 12, padding_idx=0)
        self.o = nn.Linear(12, 4)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        m = (x0 != 0).to(om.float32).unsqueeze(-1)
        return self.o((self.e(x0) * m).sum(1) / m.sum(1).clamp(min=1))


class Bags(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = nn.EmbeddingBag(80, 12, mode="mean")
        self.o = nn.Linear(12, 4)

    def forward(self, x0: om.Tensor, x1: om.Tensor) -> om.Tensor:
        return self.o(self.e(x0, x1))


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.e = nn.Sequential(nn.Linear(20, 16), nn.SELU(), nn.Linear(16, 8))
        self.d = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 20), nn.Sigmoid())

    def forward(self, x0: om.Tensor, x1: om.Tensor):
        mu, lv = self.e(x0).chunk(2, 1)
        divergence = (-0.5 * (1 + lv - mu.pow(2) - lv.exp())).sum(1)
        return self.d(mu + x1 * om.exp(0.5 * lv)), divergence


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.p = nn.Conv2d(3, 32, 4, 4)
        self.cls = nn.Parameter(om.zeros(1, 1, 32))
        self.pos = nn.Parameter(om.zeros(1, 17, 32))
        self.b = nn.ModuleList([Encoder() for _ in range(2)])
        self.h = nn.Linear(32, 6)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        x = self.p(x0).flatten(2).transpose(1, 2)
        x = om.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        for block in self.b:
            x = block(x)
        return self.h(x[:, 0])


class Swin(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.n = nn.LayerNorm(8)

    def forward(self, x0: om.Tensor) -> om.Tensor:
        b, h, w, c = x0.shape
        s = 4
        y = om.roll(self.n(x0), (-2, -2), (1, 2))
        y = y.view(b, h // s, s, w // s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, s * s, c)
        a = om.softmax(self.q(y) @ y.transpose(1, 2) * c**-0.5, -1) @ y
        a = a.view(b, h // s, w // s, s, s, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return x0 + om.roll(a, (2, 2), (1, 2))


def weights_of(module: nn.Module, model: onnx.ModelProto) -> dict[str, np.ndarray]:
    """A state dict for ``module`` out of an exported file."""
    found = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    state = {name: found[name] for name in module.state_dict() if name in found}
    for path, part in module.named_modules():
        prefix = f"{path}." if path else ""
        if isinstance(part, nn.BatchNorm2d):
            state.update(_unfolded(prefix, part, found, module))
        elif isinstance(part, (nn.LSTM, nn.GRU, nn.RNN)):
            state.update(_recurrent(prefix, part, model, found))
    state.update(_linear(model, found))
    return {name: state[name] for name in module.state_dict() if name in state}


def _linear(model: onnx.ModelProto, found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Transposed matrices before the sum with a bias that kept its name."""
    products = {n.output[0]: n for n in model.graph.node if n.op_type == "MatMul"}
    state = {}
    for node in model.graph.node:
        if node.op_type == "Add":
            for bias, product in (node.input, node.input[::-1]):
                if bias.endswith("bias") and product in products:
                    matrix = products[product].input[1]
                    if matrix in found:
                        state[bias[: -len("bias")] + "weight"] = found[matrix].T
        elif node.op_type == "Conv" and len(node.input) == 3 and node.input[1] in found:
            # A weight that was computed on export, beside a bias that kept its name.
            state[node.input[2].removesuffix("bias") + "weight"] = found[node.input[1]]
    return state


def _unfolded(
    prefix: str, norm: nn.BatchNorm2d, found: dict[str, np.ndarray], module: nn.Module
) -> dict[str, np.ndarray]:
    """A norm that only adds what folding left as the bias of the convolution before it."""
    size, names = norm.num_features, list(module.state_dict())
    before = names[names.index(f"{prefix}weight") - 1]  # weight of the convolution
    return {
        f"{prefix}weight": np.ones(size, np.float32),
        f"{prefix}bias": found[f"{before}_bias"],
        f"{prefix}running_mean": np.zeros(size, np.float32),
        f"{prefix}running_var": np.full(size, 1 - norm.eps, np.float32),
        f"{prefix}num_batches_tracked": np.array(1),
    }


_ORDERS = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}
"""PyTorch's gates (i f g o; r z n) among ONNX's (i o f c; z r h)."""


def _recurrent(
    prefix: str, layer: Any, model: onnx.ModelProto, found: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    kind = type(layer).__name__
    nodes = [node for node in model.graph.node if node.op_type == kind]
    state = {}
    for depth, node in enumerate(nodes):
        for number, suffix in enumerate(("", "_reverse") if layer.bidirectional else ("",)):
            w, r, b = (found[name][number] for name in node.input[1:4])
            b_ih, b_hh = np.split(b, 2)
            for name, array in (("weight_ih", w), ("weight_hh", r), ("bias_ih", b_ih),
                                ("bias_hh", b_hh)):  # fmt: skip
                gates = np.split(array, len(_ORDERS[kind]))
                ordered = np.concatenate([gates[g] for g in _ORDERS[kind]])
                state[f"{prefix}{name}_l{depth}{suffix}"] = ordered
    return state


IMAGE = ({0: "N", 2: "H", 3: "W"},)
TEXT = ({0: "N", 1: "T"},)

# name -> (module, file that keeps its weights, axes of its inputs)
MODELS: dict[str, tuple[Any, str, tuple[dict[int, str], ...]]] = {
    "resnet18ish": (ResNet, "dy", IMAGE),
    "mobilenetish": (MobileNet, "dy", IMAGE),
    "unet": (UNet, "dy", ({0: "N"},)),
    "unet_odd": (UNetOdd, "dy", IMAGE),
    "bert_sdpa": (Bert, "dy", TEXT * 2),
    "bert_manual": (lambda: Bert(True), "dy", TEXT * 2),
    "gpt_manual": (GPT, "dy", TEXT),
    "gpt_sdpa": (lambda: GPT(False), "dy", TEXT),
    "torch_transformer": (TorchTransformer, "dy", TEXT),
    "lstm_tagger": (lambda: Tagger(nn.LSTM), "dy", TEXT),
    "gru_tagger": (lambda: Tagger(nn.GRU), "dy", TEXT),
    "rnn_tagger": (lambda: Tagger(nn.RNN), "ts", TEXT),
    "lstm_state": (LSTMState, "dy", ({0: "T", 1: "N"}, {1: "N"}, {1: "N"})),
    "groupnorm_dilated": (GroupNormNet, "dy", IMAGE),
    "wavenet1d": (WaveNet1d, "dy", ({0: "N", 2: "L"},)),
    "superres_pixelshuffle": (SuperResolution, "dy", IMAGE),
    "bag_mask": (BagClassifier, "dy", TEXT),
    "embedding_bag": (Bags, "ts", ({0: "L"}, {0: "N"})),
    "vae": (VAE, "dy", ({0: "N"}, {0: "N"})),
    "vit": (ViT, "dy", ({0: "N"},)),
    "swin_window": (Swin, "dy", ({0: "N", 1: "H", 2: "W"},)),
}
