"""Tensors of images in blocks of channels, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.tensors import layout
from onemodel.tensors.tensor import Tensor


def to_blocked(input: Tensor, block: int = 8) -> Tensor:
    """A copy of ``input`` with its channels in blocks, innermost in memory.

    Shapes: [N, C, d1], [N, C, d1, d2] or [N, C, d1, d2, d3] of any dtype; ``shape`` stays what
    it is, memory is [N, ceil(C/block), d1, ..., block], and ``layout`` says so (``nchw8c``).
    The weight of a convolution may be blocked; other operators refuse it with a TypeError that
    names :func:`to_plain`. A trace holds no blocked constants (OM606) and does not block traced
    tensors (OM107). Raises ValueError for other shapes or a block that is not positive,
    RuntimeError for a tensor that records gradients. Source: oneDNN's ``nChw8c``.
    """
    return layout.blocked(as_tensor("to_blocked", "input", input), block)


def to_plain(input: Tensor) -> Tensor:
    """The tensor that :func:`to_blocked` was given, bit for bit; a plain tensor itself.

    Shapes: any -> the same. A blocked tensor has no history, so the result has none.
    """
    return layout.plain(as_tensor("to_plain", "input", input))


def _there_and_back(input: Any, block: int) -> Tensor:
    return to_plain(to_blocked(input.detach(), block))


def reference(input: np.ndarray, block: int) -> np.ndarray:
    return input


CASES = (
    Case((("batch", 6, 2, 3),), {"block": 4}, call=_there_and_back, reference=reference,
         gradient=False, trace=False),
    Case((In((2, "width", 3), "int8", -9, 9),), {"block": 2}, call=_there_and_back,
         reference=reference, gradient=False, trace=False, name="integers"),
)  # fmt: skip

OPERATOR = Composite("to_blocked", declaration=to_blocked, methods=("to_blocked",), cases=CASES)

ALSO = (
    Composite("to_plain", declaration=to_plain, methods=("to_plain",), cases=(
        Case((("batch", 3),), call=lambda x: to_plain(x) * 2, reference=lambda x: x * 2,
             name="a plain tensor"),
    )),
)  # fmt: skip
