"""What reductions share: axes of the result, counts, and how a gradient goes back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent


def reduce_axes(input: Axes, *, dim: Sequence[int], keepdim: bool, **attributes: Any) -> Axes:
    """Axes after a reduction over ``dim``."""
    return rules.reduce(input, dim, keepdim)


def single_axes(input: Axes, *, dim: int | None, keepdim: bool) -> Axes:
    """Axes after a reduction over one axis, or over all for None."""
    if not input:
        return ()
    if dim is None:
        return (Extent(1),) * len(input) if keepdim else ()
    return rules.reduce(input, (dim,), keepdim)


def counted(shape: Sequence[int], dim: Iterable[int]) -> int:
    """How many elements meet in one element of the result."""
    return math.prod(shape[axis] for axis in dim)


def spread(gradient: np.ndarray, dim: Sequence[int], keepdim: bool) -> np.ndarray:
    """A gradient of the result with the reduced axes back in place, as size 1."""
    return gradient if keepdim else np.expand_dims(gradient, tuple(dim))


def check_not_empty(shape: Sequence[int], dim: Iterable[int]) -> None:
    """Raises IndexError where an axis has no elements to choose from."""
    for axis in dim:
        if axis < len(shape) and shape[axis] == 0:
            raise IndexError(f"axis {axis} has no elements to choose from")


def extremum_gradient(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    """Equal extremes share the gradient evenly. A NaN that won takes it."""
    dim, keepdim = record.attributes["dim"], record.attributes["keepdim"]
    value, best = record.arrays[0], spread(record.results[0], dim, keepdim)
    won = (value == best) | ((value != value) & (best != best))
    count = won.sum(axis=tuple(dim), keepdims=True) if dim else 1
    return np.where(won, spread(grad, dim, keepdim) / count, 0).astype(grad.dtype, copy=False)


def indices(g: Any, op_type: str, input: Any, dim: int | None, keepdim: bool) -> Any:
    """``ArgMax`` or ``ArgMin`` along one axis, or of the flattened operand for None."""
    rank = input.rank
    if rank == 0:
        return g.constant(np.zeros((), np.int64))
    if not g.accepts(op_type, input.dtype):
        input = g.cast(input, np.int32 if input.dtype.itemsize < 4 else np.int64)
    if dim is not None:
        return g.op(op_type, input, axis=dim, keepdims=int(keepdim))
    found = g.op(op_type, g.op("Reshape", input, g.ints([-1])), axis=0, keepdims=0)
    return g.op("Reshape", found, g.ints([1] * rank)) if keepdim else found
