"""Element-wise upper limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import min as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def clamp_max(input: Any, max: Any) -> Tensor:
    """Each element, or ``max`` where it is smaller; a tensor of limits broadcasts.

    Dtype: where the operands meet by promotion. The gradient goes to the element where it is
    at most its limit, else to the limit. Source: ``torch.clamp_max``; ONNX Min-8.
    """
    pair, _ = operands("clamp_max", input, max)
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, max: np.ndarray) -> np.ndarray:
    return kernel.fast(input, max)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    value, limit = record.arrays
    zero, above = np.zeros((), grad.dtype), value > limit
    return (
        unbroadcast(np.where(above, zero, grad), value.shape),
        unbroadcast(np.where(above, grad, zero), limit.shape),
    )


def opset_7(g: Any, input: Any, max: Any) -> Any:
    g.refuse_below(8, "Min with broadcasting")
    return arithmetic(g, "Min", input, max)


def reference(input: np.ndarray, max: np.ndarray) -> np.ndarray:
    return np.where(np.asarray(input) > max, max, input)


CASES = (
    Case((("batch", 3), (3,)), reference=reference, lowest=8),
    Case((("batch", 3),), {"max": 0.5}, reference=reference, lowest=8, name="number"),
)

OPERATOR = Operator(
    "clamp_max",
    declaration=clamp_max,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("clamp_max",),
    inplace=("clamp_max_",),
    reads="i",
    cases=CASES,
)
