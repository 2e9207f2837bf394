"""Element-wise lower limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import max as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def clamp_min(input: Any, min: Any) -> Tensor:
    """Each element, or ``min`` where it is larger; a tensor of limits broadcasts.

    Dtype: where the operands meet by promotion. The gradient goes to the element where it is
    at least its limit, else to the limit. Source: ``torch.clamp_min``; ONNX Max-8.
    """
    pair, _ = operands("clamp_min", input, min)
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, min: np.ndarray) -> np.ndarray:
    return kernel.fast(input, min)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    value, limit = record.arrays
    zero, below = np.zeros((), grad.dtype), value < limit
    return (
        unbroadcast(np.where(below, zero, grad), value.shape),
        unbroadcast(np.where(below, grad, zero), limit.shape),
    )


def opset_7(g: Any, input: Any, min: Any) -> Any:
    g.refuse_below(8, "Max with broadcasting")
    return arithmetic(g, "Max", input, min)


def reference(input: np.ndarray, min: np.ndarray) -> np.ndarray:
    return np.where(np.asarray(input) < min, min, input)


CASES = (
    Case((("batch", 3), (3,)), reference=reference, lowest=8),
    Case((("batch", 3),), {"min": 0.5}, reference=reference, lowest=8, name="number"),
)

OPERATOR = Operator(
    "clamp_min",
    declaration=clamp_min,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("clamp_min",),
    inplace=("clamp_min_",),
    reads="i",
    cases=CASES,
)
