"""Smallest element along one axis with its index, of all elements, or of two tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import arg_min
from onemodel.kernels import reduce_min as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._reduction import (
    ValuesAndIndices,
    check_not_empty,
    indices,
    single_axes,
    take_gradient,
)
from onemodel.operators.amin import amin
from onemodel.operators.minimum import minimum
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.tensor import Tensor


def min(input: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """``min(x)``: the smallest element; ``min(x, dim)``: (values, indices) along an axis;
    ``min(x, y)`` of two tensors: :func:`minimum`.

    Shape: the axis is dropped, or kept with size 1; indices (int64) are those of the first
    smallest elements, which take the gradient. Raises IndexError for an axis out of range or
    without elements. Source: ``torch.min``; ONNX ReduceMin-1 and ArgMin-1.
    """
    input = as_tensor("min", "input", input)
    if dim is None:
        return amin(input)
    if isinstance(dim, (Tensor, np.ndarray)):
        return minimum(input, dim)
    axis = normalize_dim("min", dim, input.ndim)
    return ValuesAndIndices(*apply(OPERATOR, (input,), {"dim": axis, "keepdim": bool(keepdim)}))


def forward(input: np.ndarray, *, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    if input.ndim == 0:
        return input.copy(), np.zeros((), np.int64)
    check_not_empty(input.shape, (dim,))
    values = kernel.fast(input, np.asarray([dim]), keepdims=int(keepdim))
    return values, arg_min.fast(input, axis=dim, keepdims=int(keepdim))


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return take_gradient(record, grads[0])


def axes(input: Axes, *, dim: int, keepdim: bool) -> tuple[Axes, Axes]:
    found = single_axes(input, dim=dim, keepdim=keepdim)
    return found, found


def opset_7(g: Any, input: Any, dim: int, keepdim: bool) -> Any:
    if input.rank == 0:
        return g.op("Identity", input), g.constant(np.zeros((), np.int64))
    values = reduce(g, "ReduceMin", input, (dim,), keepdim)
    return values, indices(g, "ArgMin", input, dim, keepdim)


def reference(input: np.ndarray, dim: int, keepdim: bool = False) -> Any:
    index = np.argmin(input, axis=dim, keepdims=True)
    values = np.take_along_axis(np.asarray(input), index, axis=dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


CASES = (
    Case((("batch", 3, 4),), {"dim": 1}, reference=reference),
    Case((("batch", 5),), {"dim": 0, "keepdim": True}, reference=reference, name="keepdim"),
    Case((In(("batch", 3), "int64", -9, 9),), {"dim": -1}, reference=reference, name="integers"),
    Case((("batch", 3),), reference=lambda x: np.sort(np.ravel(x))[0], name="all"),
    Case((("batch", 3), (3,)), reference=np.minimum, lowest=8, name="of two"),
)

OPERATOR = Operator(
    "min",
    declaration=min,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("min",),
    reads="o",
    cases=CASES,
)
