"""Convolutions in one, two and three dimensions, and their transposes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onemodel.nn import functional as F
from onemodel.nn import init
from onemodel.nn.linear import weight
from onemodel.nn.module import Module
from onemodel.nn.parameter import Parameter
from onemodel.tensors.tensor import Tensor

Generator = np.random.Generator
Sizes = int | Sequence[int]

_PAD_MODES = {"reflect": "reflect", "replicate": "replicate", "circular": "circular"}


def sizes(value: Any, rank: int, name: str) -> tuple[int, ...]:
    """One number for every axis, or one per axis. Raises ValueError for another count."""
    if isinstance(value, (int, np.integer)):
        return (int(value),) * rank
    found = tuple(int(v) for v in value)
    if len(found) != rank:
        raise ValueError(f"{name}: expected {rank} numbers, not {len(found)}")
    return found


class _ConvNd(Module):
    """What the six convolutions share: sizes, weights, initial values, text."""

    _rank: int
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes,
        padding: Sizes | str,
        dilation: Sizes,
        groups: int,
        bias: bool,
        padding_mode: str,
        output_padding: Sizes = 0,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        rank, name = self._rank, type(self).__name__
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"{name}: in_channels {in_channels} and out_channels {out_channels} must be "
                f"divisible by groups {groups}"
            )
        if padding_mode != "zeros" and padding_mode not in _PAD_MODES:
            known = ", ".join(["zeros", *_PAD_MODES])
            raise ValueError(f"{name}: padding_mode must be one of {known}, not {padding_mode!r}")
        if self._transposed and padding_mode != "zeros":
            raise ValueError(f"{name}: only padding_mode='zeros' has a transpose")
        if isinstance(padding, str) and padding not in ("same", "valid"):
            raise ValueError(f"{name}: padding must be numbers, 'same' or 'valid'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = sizes(kernel_size, rank, f"{name}: kernel_size")
        self.stride = sizes(stride, rank, f"{name}: stride")
        self.padding: Any = padding
        if not isinstance(padding, str):
            self.padding = sizes(padding, rank, f"{name}: padding")
        elif padding == "same" and any(step != 1 for step in self.stride):
            raise ValueError(f"{name}: padding='same' needs stride 1, not {self.stride}")
        self.dilation = sizes(dilation, rank, f"{name}: dilation")
        self.output_padding = sizes(output_padding, rank, f"{name}: output_padding")
        self.groups = groups
        self.padding_mode = padding_mode
        ends = (in_channels, out_channels) if self._transposed else (out_channels, in_channels)
        self.weight = weight(ends[0], ends[1] // groups, *self.kernel_size, dtype=dtype)
        self.bias: Parameter | None
        self.register_parameter("bias", weight(out_channels, dtype=dtype) if bias else None)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: Generator | None = None) -> None:
        """Draw the weights anew, uniform within ``1 / sqrt(fan_in)``."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5), generator=generator)
        fan_in, _ = init.fans(self.weight)
        if self.bias is not None and fan_in:
            init.uniform_(self.bias, -1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in), generator)

    def _border(self) -> list[int]:
        """Padding in the order of ``F.pad``: the last axis first, before and after."""
        border: list[int] = []
        for axis in reversed(range(self._rank)):
            if self.padding == "same":
                total = self.dilation[axis] * (self.kernel_size[axis] - 1)
                border += [total // 2, total - total // 2]
            else:
                border += [0, 0] if self.padding == "valid" else [self.padding[axis]] * 2
        return border

    def _convolve(self, function: Callable[..., Tensor], input: Tensor) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._border(), mode=_PAD_MODES[self.padding_mode])
            padding = (0,) * self._rank
        return function(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )

    def _spread(self, function: Callable[..., Tensor], input: Tensor, output_size: Any) -> Tensor:
        extra: tuple[Any, ...] = self.output_padding
        if output_size is not None:
            extra = self._extra(input, tuple(output_size))
        return function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )

    def _extra(self, input: Tensor, output_size: tuple[Any, ...]) -> tuple[Any, ...]:
        """The output padding that leads to ``output_size``. Raises ValueError if none does."""
        wanted = output_size[-self._rank :]
        extra = []
        for axis, size in enumerate(wanted):
            low = (
                (input.shape[axis - self._rank] - 1) * self.stride[axis]
                - 2 * self.padding[axis]
                + self.dilation[axis] * (self.kernel_size[axis] - 1)
                + 1
            )
            if not low <= size < low + self.stride[axis]:
                raise ValueError(
                    f"{type(self).__name__}: output_size {size} on axis {axis} is outside "
                    f"{low} to {low + self.stride[axis] - 1}"
                )
            extra.append(size - low)
        return tuple(extra)

    def extra_repr(self) -> str:
        zeros, ones = (0,) * self._rank, (1,) * self._rank
        parts = [
            f"{self.in_channels}, {self.out_channels}",
            f"kernel_size={self.kernel_size}",
            f"stride={self.stride}",
        ]
        if self.padding != zeros:
            shown = f"'{self.padding}'" if isinstance(self.padding, str) else self.padding
            parts.append(f"padding={shown}")
        if self.dilation != ones:
            parts.append(f"dilation={self.dilation}")
        if self.output_padding != zeros:
            parts.append(f"output_padding={self.output_padding}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, dtype=dtype, generator=generator,
        )  # fmt: skip


class _ConvTranspose(_ConvNd):
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        *,
        dtype: Any = None,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, output_padding, dtype, generator,
        )  # fmt: skip


class Conv1d(_Conv):
    """Cross-correlation along one axis: [N, C, L] -> [N, out_channels, L'].

    Weights: ``weight`` [out, C/groups, k], ``bias`` [out]; initially uniform within
    ``1 / sqrt(fan_in)``. Source: ``torch.nn.Conv1d``.
    """

    _rank = 1

    def forward(self, input: Tensor) -> Tensor:
        return self._convolve(F.conv1d, input)


class Conv2d(_Conv):
    """Cross-correlation over two axes: [N, C, H, W] -> [N, out_channels, H', W'].

    ``padding``: numbers, "same" or "valid"; ``padding_mode``: zeros, reflect, replicate or
    circular. Weights: ``weight`` [out, C/groups, kh, kw], ``bias`` [out]; initially uniform
    within ``1 / sqrt(fan_in)``. Source: ``torch.nn.Conv2d``.
    """

    _rank = 2

    def forward(self, input: Tensor) -> Tensor:
        return self._convolve(F.conv2d, input)


class Conv3d(_Conv):
    """Cross-correlation over three axes: [N, C, D, H, W] -> [N, out_channels, D', H', W'].

    Source: ``torch.nn.Conv3d``.
    """

    _rank = 3

    def forward(self, input: Tensor) -> Tensor:
        return self._convolve(F.conv3d, input)


class ConvTranspose1d(_ConvTranspose):
    """The transpose of :class:`Conv1d`: [N, C, L] -> [N, out_channels, L'].

    Weights: ``weight`` [C, out/groups, k], ``bias`` [out]. ``output_size`` in the call picks
    among the sizes a stride leaves open. Source: ``torch.nn.ConvTranspose1d``.
    """

    _rank = 1

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        return self._spread(F.conv_transpose1d, input, output_size)


class ConvTranspose2d(_ConvTranspose):
    """The transpose of :class:`Conv2d`: [N, C, H, W] -> [N, out_channels, H', W'].

    Weights: ``weight`` [C, out/groups, kh, kw], ``bias`` [out].
    Source: ``torch.nn.ConvTranspose2d``.
    """

    _rank = 2

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        return self._spread(F.conv_transpose2d, input, output_size)


class ConvTranspose3d(_ConvTranspose):
    """The transpose of :class:`Conv3d`. Source: ``torch.nn.ConvTranspose3d``."""

    _rank = 3

    def forward(self, input: Tensor, output_size: Any = None) -> Tensor:
        return self._spread(F.conv_transpose3d, input, output_size)
