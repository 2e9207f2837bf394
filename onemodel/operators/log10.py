"""Element-wise logarithm to base 10."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def log10(input: Tensor) -> Tensor:
    """The logarithm to base 10, NaN below 0. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.log10``; ONNX Log-6.
    """
    return apply(OPERATOR, (floating("log10", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.log10(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad / (record.arrays[0] * math.log(10))


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Mul", g.op("Log", input), g.like(1 / math.log(10), input))


def reference(input: np.ndarray) -> np.ndarray:
    return np.log(np.asarray(input, np.float64)) / np.log(10)


CASES = (
    Case((In(("batch", 3), low=0.1, high=4.0),), reference=reference),
    Case((In((), low=0.1, high=4.0),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "log10",
    declaration=log10,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("log10",),
    inplace=("log10_",),
    reads="i",
    ufunc="log10",
    cases=CASES,
)
