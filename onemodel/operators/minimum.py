"""Element-wise smaller of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import min as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def minimum(input: Any, other: Any) -> Tensor:
    """The smaller of two elements with broadcasting; NaN where either is NaN.

    Dtype: where the operands meet by promotion. Where both are equal each takes half of the
    gradient. Raises TypeError for complex. Source: ``torch.minimum``; ONNX Min-8.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    pair, dtype = operands("minimum", input, other)
    if category(dtype) == 3:
        raise TypeError("minimum: complex numbers have no order")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    tie = np.where(left == right, grad / 2, np.zeros((), grad.dtype))
    return (
        unbroadcast(np.where(left < right, grad, tie), left.shape),
        unbroadcast(np.where(right < left, grad, tie), right.shape),
    )


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if input.dtype == np.bool_:
        return g.op("And", input, other)
    g.refuse_below(8, "Min with broadcasting")
    return arithmetic(g, "Min", input, other)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.where(np.asarray(input) > np.asarray(other), other, input)


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference, lowest=8),
    Case((("batch", 1, 4), (3, 1)), reference=reference, lowest=8, name="broadcast"),
    Case(
        (In(("batch", 3), "int32", -9, 9), In((3,), "int32", -9, 9)),
        reference=reference,
        lowest=8,
        name="integers",
    ),
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", -9, 9)),
        reference=reference,
        lowest=12,
        name="long integers",
    ),
)

OPERATOR = Operator(
    "minimum",
    declaration=minimum,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("minimum",),
    reads="i",
    ufunc="minimum",
    cases=CASES,
)
