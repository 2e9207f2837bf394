"""Blocked layouts: channels in groups of fixed size, innermost in memory (NCHW8c and the like).

Convolution kernels that work on vectors of channels like their operands in this order. A
blocked tensor carries its layout; what does not know the layout must not read its elements,
and does not get them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.tensors import seam
from onemodel.tensors.tensor import Tensor

STRIDED = Tensor.layout
"""The plain layout: elements where the strides say."""

_SPATIAL = {3: "w", 4: "hw", 5: "dhw"}


class LayoutError(TypeError):
    """The elements of a blocked tensor were asked for by something that reads plain ones."""


class BlockedTensor(Tensor):
    """[N, C, d1, ...] stored as [N, C/block, d1, ..., block], zeros beyond the last channel.

    ``shape`` and ``dtype`` are those of the plain tensor, ``layout`` names the order
    (``nchw8c``), ``blocks`` is the stored array. Made by ``to_blocked``; ``to_plain`` gives
    the plain tensor, exactly. Everything else that asks for the elements gets a
    :class:`LayoutError`, or in a trace the refusal OM606.
    """

    def __init__(self, array: np.ndarray, block: int) -> None:
        self._epoch = seam.EPOCH[0]
        self._sizes = array.shape
        self.layout = f"nc{_SPATIAL[array.ndim]}{block}c"
        self.blocks = _packed(array, block)

    @property
    def _array(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        # Where operators look for elements: an attribute of a plain tensor, which costs them
        # nothing; here it is the place to refuse.
        if seam.listener() is not None:
            seam.layout(self)
            return self.plain()  # refusals are being collected: the run goes on
        raise LayoutError(
            f"the elements of a tensor of shape {list(self._sizes)} in blocked layout "
            f"{self.layout} are not in the order that is read here; write w.to_plain()"
        )

    @property
    def shape(self) -> tuple[int, ...]:
        return self._sizes

    @property
    def ndim(self) -> int:
        return len(self._sizes)

    def dim(self) -> int:
        return len(self._sizes)

    @property
    def dtype(self) -> np.dtype:
        return self.blocks.dtype

    def is_contiguous(self) -> bool:
        """False: not in the order of a plain tensor."""
        return False

    def detach(self) -> Tensor:
        """Itself: it has no history."""
        return self

    def plain(self) -> np.ndarray:
        """The elements in plain order, in new memory."""
        batch, channels, *spatial = self._sizes
        moved = np.moveaxis(self.blocks, -1, 2)
        stored = moved.shape[1] * moved.shape[2]
        return np.ascontiguousarray(moved.reshape(batch, stored, *spatial)[:, :channels])

    def __repr__(self) -> str:
        return f"tensor(<{self.layout}>, shape={list(self._sizes)}, dtype={self.dtype})"


def _packed(array: np.ndarray, block: int) -> np.ndarray:
    batch, channels, *spatial = array.shape
    groups = -(-channels // block)
    filled = np.zeros((batch, groups * block, *spatial), array.dtype)
    filled[:, :channels] = array
    parted = filled.reshape(batch, groups, block, *spatial)
    blocks = np.ascontiguousarray(np.moveaxis(parted, 2, -1))
    blocks.flags.writeable = False
    return blocks


def blocked(tensor: Tensor, block: Any) -> BlockedTensor:
    """``tensor`` in blocks of ``block`` channels. For the errors see ``om.to_blocked``."""
    array = tensor._read("to_blocked()")
    if not isinstance(block, (int, np.integer)) or block < 1:
        raise ValueError(f"to_blocked: block must be a positive integer, not {block!r}")
    if array.ndim not in _SPATIAL:
        raise ValueError(
            "to_blocked: expected [N, C, d1, ...] with one to three spatial axes, "
            f"not {list(array.shape)}"
        )
    if tensor.requires_grad:
        raise RuntimeError(
            "to_blocked: this tensor records gradients, which stop here; "
            "write w.detach().to_blocked(block)"
        )
    return BlockedTensor(array, int(block))


def plain(tensor: Tensor) -> Tensor:
    """``tensor`` in the plain layout; itself where it is plain."""
    return Tensor(tensor.plain()) if isinstance(tensor, BlockedTensor) else tensor
