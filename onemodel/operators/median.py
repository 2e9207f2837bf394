"""Median of all elements, or along one axis with its index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._reduction import (
    ValuesAndIndices,
    check_not_empty,
    single_axes,
    take_gradient,
)
from onemodel.operators.reshape import reshape
from onemodel.tensors.tensor import Tensor


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """``median(x)``: the median of all; ``median(x, dim)``: (values, indices) along an axis.

    Of an even number of elements the lower of the two in the middle; NaN where one is NaN.
    The element at the index takes the gradient. Eager only: a trace refuses it. Raises
    IndexError for an axis out of range or without elements. Source: ``torch.median``.
    """
    input = as_tensor("median", "input", input)
    if dim is None:
        return apply(OPERATOR, (reshape(input, -1),), {"dim": 0, "keepdim": False})[0]
    axis = normalize_dim("median", dim, input.ndim)
    return ValuesAndIndices(*apply(OPERATOR, (input,), {"dim": axis, "keepdim": bool(keepdim)}))


def forward(input: np.ndarray, *, dim: int, keepdim: bool) -> tuple[np.ndarray, np.ndarray]:
    if input.ndim == 0:
        return input.copy(), np.zeros((), np.int64)
    check_not_empty(input.shape, (dim,))
    order = np.argsort(input, axis=dim, kind="stable")
    middle = np.take(order, [(input.shape[dim] - 1) // 2], axis=dim)
    if input.dtype.kind == "f":
        missing = np.isnan(input)
        first = np.argmax(missing, axis=dim, keepdims=True)
        middle = np.where(missing.any(axis=dim, keepdims=True), first, middle)
    values = np.take_along_axis(input, middle, axis=dim)
    if keepdim:
        return values, middle
    return values.squeeze(dim), middle.squeeze(dim)


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return take_gradient(record, grads[0])


def axes(input: Axes, *, dim: int, keepdim: bool) -> tuple[Axes, Axes]:
    found = single_axes(input, dim=dim, keepdim=keepdim)
    return found, found


def reference(input: np.ndarray, dim: int, keepdim: bool = False) -> Any:
    order = np.argsort(np.asarray(input, np.float64), axis=dim)
    index = np.take(order, [(np.shape(input)[dim] - 1) // 2], axis=dim)
    values = np.take_along_axis(input, index, axis=dim)
    return (values, index) if keepdim else (values.squeeze(dim), index.squeeze(dim))


CASES = (
    Case((("batch", 5),), {"dim": 1}, reference=reference, trace=False),
    Case(
        (("batch", 4),),
        {"dim": 0, "keepdim": True},
        reference=reference,
        trace=False,
        name="keepdim",
    ),
    Case(
        (("batch", 3),),
        reference=lambda x: np.sort(np.ravel(x))[(x.size - 1) // 2],
        trace=False,
        name="all",
    ),
)

OPERATOR = Operator(
    "median",
    declaration=median,
    forward=forward,
    backward=backward,
    axes=axes,
    methods=("median",),
    reads="o",
    cases=CASES,
)
