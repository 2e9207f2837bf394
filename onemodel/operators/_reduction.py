"""What reductions share: axes of the result, counts, and how a gradient goes back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.kernels._dtypes import is_narrow
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


class ValuesAndIndices(NamedTuple):
    """What a choice along an axis gives: the elements chosen, and where they stood (int64)."""

    values: Tensor
    indices: Tensor


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


def take_gradient(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    """The gradient of elements chosen along ``dim``, put back to where they stood.

    The second result of the record is their index; without ``keepdim`` the axis is gone.
    """
    dim, shape = record.attributes["dim"], record.shapes[0]
    index = record.results[1]
    if len(shape) == 0:
        return grad.reshape(shape)
    if index.ndim < len(shape):
        grad, index = np.expand_dims(grad, dim), np.expand_dims(index, dim)
    result = np.zeros(shape, grad.dtype)
    np.put_along_axis(result, index, grad, axis=dim)
    return result


def count(
    g: Any, input: Any, dim: Iterable[int], less: float = 0, dtype: np.dtype | None = None
) -> Any:
    """How many elements meet in one, minus ``less`` but not below 0, as a 0-d float.

    Of the operand's dtype unless ``dtype`` is given.
    """
    dtype = input.dtype if dtype is None else dtype
    extent = Extent(1)
    for axis in dim:
        extent = extent * as_extent(input.shape[axis])
    if extent.is_static:
        return g.constant(np.asarray(max(extent.value - less, 0)).astype(dtype))
    number = g.op("Reshape", g.size(extent), g.constant(np.zeros((0,), np.int64)))
    number = g.cast(number, dtype)
    if not less:
        return number
    return g.op("Relu", g.op("Sub", number, g.constant(np.asarray(less).astype(dtype))))


def deviation(
    operator: str,
    input: Any,
    dim: Any,
    unbiased: bool | None,
    keepdim: bool,
    correction: float | None,
) -> tuple[tuple[Tensor], dict[str, Any]]:
    """Operands and attributes of ``var`` and ``std`` from their arguments."""
    tensor = as_tensor(operator, "input", input)
    if category(tensor._array.dtype) != 2:
        raise TypeError(f"{operator}: {tensor.dtype} has none of its own; write x.float()")
    if isinstance(dim, bool):  # var(unbiased), the older spelling
        dim, unbiased = None, dim
    if unbiased is not None and correction is not None:
        raise ValueError(f"{operator}: give unbiased or correction, not both")
    wanted = correction if correction is not None else float(unbiased is not False)
    dims = normalize_dims(operator, None if dim == () else dim, tensor.ndim)
    return (tensor,), {"dim": dims, "correction": wanted, "keepdim": bool(keepdim)}


def variance(
    input: np.ndarray, dim: tuple[int, ...], correction: float, keepdim: bool
) -> np.ndarray:
    """Squared distances from the mean, added and divided by ``n - correction``."""
    wide = input.astype(np.float32) if is_narrow(input.dtype) else input
    distance = wide - np.true_divide(
        wide.sum(axis=dim, keepdims=True, dtype=wide.dtype), counted(input.shape, dim)
    ).astype(wide.dtype)
    total = np.square(distance).sum(axis=dim, keepdims=keepdim, dtype=wide.dtype)
    divisor = np.asarray(max(counted(input.shape, dim) - correction, 0), wide.dtype)
    return np.asarray(total / divisor).astype(input.dtype, copy=False)


def write_variance(g: Any, input: Any, dim: Sequence[int], correction: float, keepdim: bool) -> Any:
    """The nodes of :func:`variance`."""
    narrow = is_narrow(input.dtype)  # squares would overflow
    wide = g.cast(input, np.float32) if narrow else input
    mean = reduce(g, "ReduceMean", wide, dim, True) if dim else wide
    distance = g.op("Sub", wide, mean)
    squares = g.op("Mul", distance, distance)
    if correction == 0:
        result = reduce(g, "ReduceMean", squares, dim, keepdim)
    else:
        total = reduce(g, "ReduceSum", squares, dim, keepdim)
        result = g.op("Div", total, count(g, input, dim, correction, wide.dtype))
    return g.cast(result, input.dtype) if narrow else result
