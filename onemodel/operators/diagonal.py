"""The diagonal of two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Entries where the index along ``dim2`` is that along ``dim1`` plus ``offset``.

    Shape: the other axes, then the diagonal. A copy. Raises ValueError for one axis twice.
    Source: ``torch.diagonal``; ONNX Reshape-5 and Gather-1 (with symbolic axes Range-11).
    """
    input = as_tensor("diagonal", "input", input)
    first = normalize_dim("diagonal", dim1, input.ndim)
    second = normalize_dim("diagonal", dim2, input.ndim)
    if input.ndim < 2 or first == second:
        raise ValueError("diagonal: dim1 and dim2 must name two different axes")
    return apply(OPERATOR, (input,), {"offset": int(offset), "dim1": first, "dim2": second})


def forward(input: np.ndarray, *, offset: int, dim1: int, dim2: int) -> np.ndarray:
    return np.diagonal(input, offset, dim1, dim2).copy()


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    offset = record.attributes["offset"]
    result = np.zeros(record.shapes[0], grad.dtype)
    ends = (record.attributes["dim1"], record.attributes["dim2"])
    moved = np.moveaxis(result, ends, (-2, -1))
    row = np.arange(grad.shape[-1]) + max(-offset, 0)
    moved[..., row, row + offset] = grad
    return result


def axes(input: Axes, *, offset: int, dim1: int, dim2: int) -> Axes:
    rest = tuple(size for dim, size in enumerate(input) if dim not in (dim1, dim2))
    return (*rest, _length(input[dim1], input[dim2], offset))


def _length(rows: Extent, columns: Extent, offset: int) -> Extent:
    left, right = rows - max(-offset, 0), columns - max(offset, 0)
    return left.minimum(right).maximum(0)


def opset_7(g: Any, input: Any, offset: int, dim1: int, dim2: int) -> Any:
    rest = [dim for dim in range(input.rank) if dim not in (dim1, dim2)]
    order = [*rest, dim1, dim2]
    shape = [as_extent(input.shape[dim]) for dim in order]
    last = input if order == sorted(order) else g.op("Transpose", input, perm=order)
    rows, columns = shape[-2:]
    flat = helpers.reshape(g, last, [*shape[:-2], rows * columns])
    first = max(offset, 0) + columns * max(-offset, 0)
    length = _length(rows, columns, offset)
    if length.is_static and columns.is_static:
        places = g.ints(first.value + (columns.value + 1) * i for i in range(length.value))
    else:
        g.refuse_below(11, "the diagonal of a symbolic axis (Range)")
        one, zero = (g.constant(np.asarray(n, np.int64)) for n in (1, 0))
        steps = g.op("Range", zero, g.scalar(length), one)
        places = g.op("Add", g.op("Mul", steps, g.size(columns + 1)), g.size(first))
    return g.op("Gather", flat, places, axis=len(rest))


def reference(input: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> np.ndarray:
    return np.diagonal(input, offset, dim1, dim2)


CASES = (
    Case((("batch", 3, 4),), {"dim1": 1, "dim2": 2}, reference=reference),
    Case(((3, "batch", 4),), {"offset": -1, "dim1": 2, "dim2": 0}, reference=reference,
         name="axes apart"),
    Case((("rows", "columns"),), {"offset": 1}, reference=reference, lowest=12,
         name="symbolic axes"),
)  # fmt: skip

OPERATOR = Operator(
    "diagonal",
    declaration=diagonal,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("diagonal",),
    reads="",
    cases=CASES,
)
