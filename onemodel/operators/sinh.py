"""Element-wise hyperbolic sine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sinh as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def sinh(input: Tensor) -> Tensor:
    """The hyperbolic sine. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.sinh``; ONNX Sinh-9.
    """
    return apply(OPERATOR, (floating("sinh", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(np.cosh(record.arrays[0]))


def reference(input: np.ndarray) -> np.ndarray:
    return (np.exp(np.asarray(input, np.float64)) - np.exp(-np.asarray(input, np.float64))) / 2


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case(((),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "sinh",
    declaration=sinh,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: unary("Sinh")},
    methods=("sinh",),
    inplace=("sinh_",),
    reads="i",
    ufunc="sinh",
    cases=CASES,
)
