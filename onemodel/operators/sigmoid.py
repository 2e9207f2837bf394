"""Logistic function, ``1 / (1 + exp(-input))``."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sigmoid as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def sigmoid(input: Tensor) -> Tensor:
    """The logistic function; integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.sigmoid``; ONNX Sigmoid-6.
    """
    return apply(OPERATOR, (floating("sigmoid", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    result = record.results[0]
    return grad * (result * (1 - result))


def reference(input: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.asarray(input, np.float64)))


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "sigmoid",
    declaration=sigmoid,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Sigmoid")},
    methods=("sigmoid",),
    inplace=("sigmoid_",),
    reads="o",
    cases=CASES,
)
