"""Padding of the last axes: constant, reflected, replicated, circular."""

from __future__ import annotations

from collections.abc import Sequence

from onemodel.nn import functional as F
from onemodel.nn.module import Module
from onemodel.tensors.tensor import Tensor


class _Pad(Module):
    """``padding``: one number for every side, or (left, right, top, bottom, ...)."""

    _rank: int
    _mode: str

    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__()
        sides = 2 * self._rank
        self.padding = (padding,) * sides if isinstance(padding, int) else tuple(padding)
        if len(self.padding) != sides:
            raise ValueError(
                f"{type(self).__name__}: expected one number or {sides}, not {len(self.padding)}"
            )

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, mode=self._mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    _mode = "constant"

    def __init__(self, padding: int | Sequence[int], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        return F.pad(input, self.padding, mode="constant", value=self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: int | Sequence[int]) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ConstantPad1d(_ConstantPad):
    """A constant on both sides of the last axis. Source: ``torch.nn.ConstantPad1d``."""

    _rank = 1


class ConstantPad2d(_ConstantPad):
    """A constant around the last two axes. Source: ``torch.nn.ConstantPad2d``."""

    _rank = 2


class ConstantPad3d(_ConstantPad):
    """A constant around the last three axes. Source: ``torch.nn.ConstantPad3d``."""

    _rank = 3


class ZeroPad1d(_ZeroPad):
    """Zeros on both sides of the last axis. Source: ``torch.nn.ZeroPad1d``."""

    _rank = 1


class ZeroPad2d(_ZeroPad):
    """Zeros around the last two axes. Source: ``torch.nn.ZeroPad2d``."""

    _rank = 2


class ZeroPad3d(_ZeroPad):
    """Zeros around the last three axes. Source: ``torch.nn.ZeroPad3d``."""

    _rank = 3


class ReflectionPad1d(_Pad):
    """The last axis mirrored at its ends. Source: ``torch.nn.ReflectionPad1d``."""

    _rank, _mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """The last two axes mirrored at their ends. Source: ``torch.nn.ReflectionPad2d``."""

    _rank, _mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """The last three axes mirrored at their ends. Source: ``torch.nn.ReflectionPad3d``."""

    _rank, _mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """The ends of the last axis repeated. Source: ``torch.nn.ReplicationPad1d``."""

    _rank, _mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """The edges of the last two axes repeated. Source: ``torch.nn.ReplicationPad2d``."""

    _rank, _mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """The faces of the last three axes repeated. Source: ``torch.nn.ReplicationPad3d``."""

    _rank, _mode = 3, "replicate"


class CircularPad1d(_Pad):
    """The last axis continued from its other end. Source: ``torch.nn.CircularPad1d``."""

    _rank, _mode = 1, "circular"


class CircularPad2d(_Pad):
    """The last two axes continued from their other ends. Source: ``torch.nn.CircularPad2d``."""

    _rank, _mode = 2, "circular"


class CircularPad3d(_Pad):
    """The last three axes continued from their other ends. Source: ``torch.nn.CircularPad3d``."""

    _rank, _mode = 3, "circular"
