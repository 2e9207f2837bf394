"""Elements in order along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, as_extent
from onemodel.kernels import top_k as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._reduction import ValuesAndIndices, take_gradient
from onemodel.operators.topk import ranked
from onemodel.tensors.tensor import Tensor


def sort(
    input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False
) -> ValuesAndIndices:
    """(values, indices) along ``dim``, rising or falling; indices (int64) say where each stood.

    Of equal elements the first comes first, with or without ``stable``. Raises IndexError for
    an axis out of range. Source: ``torch.sort``; ONNX TopK-1 of the whole axis.
    """
    input = as_tensor("sort", "input", input)
    axis = normalize_dim("sort", dim, input.ndim)
    return ValuesAndIndices(
        *apply(OPERATOR, (input,), {"dim": axis, "descending": bool(descending)})
    )


def forward(input: np.ndarray, *, dim: int, descending: bool) -> tuple[np.ndarray, np.ndarray]:
    if input.ndim == 0:
        return input.copy(), np.zeros((), np.int64)
    whole = np.asarray(input.shape[dim])
    return kernel.fast(input, whole, axis=dim, largest=int(descending))


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return take_gradient(record, grads[0])


def axes(input: Axes, *, dim: int, descending: bool) -> tuple[Axes, Axes]:
    return input, input


def opset_7(g: Any, input: Any, dim: int, descending: bool) -> Any:
    if input.rank == 0:
        return g.op("Identity", input), g.constant(np.zeros((), np.int64))
    return ranked(g, input, as_extent(input.shape[dim]), dim, descending)


def reference(input: np.ndarray, dim: int = -1, descending: bool = False) -> Any:
    keys = -np.asarray(input, np.float64) if descending else np.asarray(input, np.float64)
    index = np.argsort(keys, axis=dim, kind="stable")
    return np.take_along_axis(np.asarray(input), index, axis=dim), index


CASES = (
    Case((("batch", 5),), reference=reference, lowest=11),
    Case(
        (("batch", 5, 2),), {"dim": 1, "descending": True}, reference=reference, name="descending"
    ),
    Case((("batch", 3),), {"dim": 0}, reference=reference, lowest=11, name="symbolic axis"),
    Case((In(("batch", 6), "int64", -2, 3),), reference=reference, lowest=11, name="ties"),
    Case((In(("batch", 6), "bool"),), reference=reference, lowest=11, name="bool"),
)

OPERATOR = Operator(
    "sort",
    declaration=sort,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("sort",),
    reads="o",
    cases=CASES,
)
