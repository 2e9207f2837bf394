"""The k largest or smallest elements along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, as_extent
from onemodel.axes.size import extent_of
from onemodel.kernels import top_k as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._reduction import ValuesAndIndices, take_gradient
from onemodel.tensors.tensor import Tensor


def topk(
    input: Tensor, k: Any, dim: int = -1, largest: bool = True, sorted: bool = True
) -> ValuesAndIndices:
    """(values, indices) of the ``k`` largest (smallest) elements along ``dim``, in order.

    ``k``: an integer, or a size of a traced tensor. Of equal elements the first comes first.
    They are sorted even where ``sorted`` does not ask for it. Raises IndexError for an axis out
    of range, ValueError for ``k`` above its size. Source: ``torch.topk``; ONNX TopK-1.
    """
    input = as_tensor("topk", "input", input)
    axis = normalize_dim("topk", dim, input.ndim)
    if input._array.dtype == np.bool_:
        raise TypeError("topk: bool has no order; convert it with .long()")
    attributes = {"k": k, "dim": axis, "largest": bool(largest), "sorted": bool(sorted)}
    return ValuesAndIndices(*apply(OPERATOR, (input,), attributes))


def forward(
    input: np.ndarray, *, k: int, dim: int, largest: bool, sorted: bool
) -> tuple[np.ndarray, np.ndarray]:
    if input.ndim == 0:
        return input.copy(), np.zeros((), np.int64)
    return kernel.fast(input, np.asarray(k), axis=dim, largest=int(largest))


def backward(record: BackwardRecord, *grads: np.ndarray) -> np.ndarray:
    return take_gradient(record, grads[0])


def axes(input: Axes, *, k: Any, dim: int, largest: bool, sorted: bool) -> tuple[Axes, Axes]:
    found = (*input[:dim], extent_of(k), *input[dim + 1 :]) if input else ()
    return found, found


def opset_7(g: Any, input: Any, k: Any, dim: int, largest: bool, sorted: bool) -> Any:
    if input.rank == 0:
        return g.op("Identity", input), g.constant(np.zeros((), np.int64))
    return ranked(g, input, k, dim, largest)


def ranked(g: Any, input: Any, k: Any, dim: int, largest: bool) -> tuple[Any, Any]:
    """TopK, in a wider dtype where it lacks one; the smallest from 11 on, where NaN comes last."""
    dtype = input.dtype
    if not g.accepts("TopK", dtype):
        g.refuse_below(11, f"ordering {dtype} (TopK)")
        input = g.cast(input, np.float32 if dtype.kind == "V" else np.int64)
    if g.opset >= 11:
        values, index = g.op("TopK", input, g.sizes([k]), axis=dim, largest=int(largest), outputs=2)
        return g.cast(values, dtype), index
    if not largest:
        raise g.unsupported("the smallest elements need TopK-11", lowest=11)
    if g.opset >= 10:
        values, index = g.op("TopK", input, g.sizes([k]), axis=dim, outputs=2)
    elif isinstance(k, int) or k.is_static:
        values, index = g.op("TopK", input, k=int(as_extent(k).value), axis=dim, outputs=2)
    else:
        raise g.unsupported("ordering a symbolic axis needs TopK-10", lowest=10)
    return values, index


def reference(
    input: np.ndarray, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    keys = -np.asarray(input, np.float64) if largest else np.asarray(input, np.float64)
    index = np.take(np.argsort(keys, axis=dim, kind="stable"), np.arange(k), axis=dim)
    return np.take_along_axis(np.asarray(input), index, axis=dim), index


CASES = (
    Case((("batch", 5),), {"k": 2}, reference=reference),
    Case(
        (("batch", 5, 3),),
        {"k": 3, "dim": 1, "largest": False},
        reference=reference,
        lowest=11,
        name="smallest",
    ),
    Case(
        (In(("batch", 5), "int64", -3, 4),), {"k": 4}, reference=reference, lowest=11, name="ties"
    ),
    Case(
        (("batch", 3),),
        call=lambda x: topk(x, x.shape[0] // 2, dim=0),
        reference=lambda x: reference(x, len(x) // 2, 0),
        lowest=10,
        name="symbolic k",
    ),
)

OPERATOR = Operator(
    "topk",
    declaration=topk,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("topk",),
    reads="o",
    size_attributes=("k",),
    cases=CASES,
)
