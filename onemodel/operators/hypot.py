"""Length of a vector, from its two coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import finfo

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case
from onemodel.operators._elementwise import broadcast_axes, equal
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operand, operands, unbroadcast
from onemodel.tensors.dtypes import category, get_default_dtype
from onemodel.tensors.tensor import Tensor


def hypot(input: Any, other: Any) -> Tensor:
    """``sqrt(input ** 2 + other ** 2)`` without overflow on the way.

    Shapes: any two that broadcast; integers are taken as the default dtype. Raises TypeError
    for complex. Source: ``torch.hypot``; ONNX Where-9.
    """
    pair, dtype = operands("hypot", input, other)
    if category(dtype) == 3:
        raise TypeError("hypot: real numbers only")
    if category(dtype) < 2:
        pair = [operand(value, get_default_dtype()) for value in (input, other)]
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.hypot(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    scaled = grad / record.results[0]
    return unbroadcast(scaled * left, left.shape), unbroadcast(scaled * right, right.shape)


def opset_9(g: Any, input: Any, other: Any) -> Any:
    # Scaled by the larger one, so that squares cannot overflow; infinite with any other.
    left, right = g.op("Abs", input), g.op("Abs", other)
    large, small = g.op("Max", left, right), g.op("Min", left, right)
    least = g.like(finfo(input.dtype).smallest_subnormal, input)
    ratio = g.op("Div", small, g.op("Max", large, least))
    one, infinity = g.like(1, input), g.like(np.inf, input)
    length = g.op("Mul", large, g.op("Sqrt", g.op("Add", g.op("Mul", ratio, ratio), one)))
    infinite = g.op("Or", equal(g, left, infinity), equal(g, right, infinity))
    return g.op("Where", infinite, infinity, length)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.abs(np.asarray(input, np.float64) + 1j * np.asarray(other, np.float64))


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference, lowest=9),
    Case((("batch", 1, 4), (3, 1)), reference=reference, lowest=9, name="broadcast"),
)

OPERATOR = Operator(
    "hypot",
    declaration=hypot,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={9: opset_9},
    methods=("hypot",),
    inplace=("hypot_",),
    ufunc="hypot",
    cases=CASES,
)
