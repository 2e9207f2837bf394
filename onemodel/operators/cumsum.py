"""Running sums along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import cum_sum as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.to import to
from onemodel.tensors.dtypes import category, int64
from onemodel.tensors.tensor import Tensor


def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Sums of the elements up to each one along ``dim``.

    Shape as the input's; bool and integers are summed as int64. Raises IndexError for an axis
    out of range. Source: ``torch.cumsum``; ONNX CumSum-11.
    """
    input = as_tensor("cumsum", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    elif category(input._array.dtype) < 2:
        input = to(input, int64)
    return apply(OPERATOR, (input,), {"dim": normalize_dim("cumsum", dim, input.ndim)})


def forward(input: np.ndarray, *, dim: int) -> np.ndarray:
    return kernel.fast(input, dim) if input.ndim else input.copy()


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return kernel.fast(grad, record.attributes["dim"], reverse=1) if grad.ndim else grad


def opset_11(g: Any, input: Any, dim: int) -> Any:
    if input.rank == 0:
        return g.op("Identity", input)
    return arithmetic_along(g, "CumSum", input, dim)


def arithmetic_along(g: Any, op_type: str, input: Any, dim: int) -> Any:
    """A node with the axis as its second operand, in float32 where the opset lacks float16."""
    axis = g.constant(np.asarray(dim, np.int64))
    if g.accepts(op_type, input.dtype) or input.dtype.itemsize > 2:
        return g.op(op_type, input, axis)
    return g.cast(g.op(op_type, g.cast(input, np.float32), axis), input.dtype)


def reference(input: np.ndarray, dim: int) -> np.ndarray:
    wide = np.asarray(input, np.float64 if input.dtype.kind == "f" else np.int64)
    return np.cumsum(wide, axis=dim)


CASES = (
    Case((("batch", 3),), {"dim": 1}, reference=reference, lowest=11),
    Case((("batch", 3, 2),), {"dim": 0}, reference=reference, lowest=11, name="symbolic axis"),
    Case(
        (In(("batch", 3), "int32", -9, 9),),
        {"dim": -1},
        reference=reference,
        lowest=11,
        name="integers",
    ),
)

OPERATOR = Operator(
    "cumsum",
    declaration=cumsum,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={11: opset_11},
    methods=("cumsum",),
    inplace=("cumsum_",),
    reads="",
    cases=CASES,
)
