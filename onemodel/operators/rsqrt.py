"""Element-wise reciprocal square root."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def rsqrt(input: Tensor) -> Tensor:
    """``1 / sqrt(input)``: infinite at 0, NaN below. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.rsqrt``; ONNX Sqrt-6 and Reciprocal-6.
    """
    return apply(OPERATOR, (floating("rsqrt", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.reciprocal(np.sqrt(input))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    result = record.results[0]
    return grad * (-0.5 * result * result * result)


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Reciprocal", g.op("Sqrt", input))


def reference(input: np.ndarray) -> np.ndarray:
    return np.asarray(input, np.float64) ** -0.5


CASES = (
    Case((In(("batch", 3), low=0.1, high=4.0),), reference=reference),
    Case((In((), low=0.1, high=4.0),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "rsqrt",
    declaration=rsqrt,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("rsqrt",),
    inplace=("rsqrt_",),
    reads="o",
    cases=CASES,
)
