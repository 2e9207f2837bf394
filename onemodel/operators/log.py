"""Element-wise natural logarithm."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import log as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def log(input: Tensor) -> Tensor:
    """The natural logarithm: NaN below 0, -inf at 0. Integers are taken as the default dtype.

    Shape as the input's, a floating (or complex) dtype. Raises TypeError for anything but a
    tensor or number. Source: ``torch.log``; ONNX Log-6.
    """
    return apply(OPERATOR, (floating("log", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad / conjugate(record.arrays[0])


def reference(input: np.ndarray) -> np.ndarray:
    return np.log(np.asarray(input, np.float64))


CASES = (
    Case((In(("batch", 3), low=0.1, high=4.0),), reference=reference),
    Case((In((), low=0.1, high=4.0),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "log",
    declaration=log,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Log")},
    methods=("log",),
    inplace=("log_",),
    reads="i",
    ufunc="log",
    cases=CASES,
)
