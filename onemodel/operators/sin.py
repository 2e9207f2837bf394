"""Element-wise sine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sin as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def sin(input: Tensor) -> Tensor:
    """The sine. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.sin``; ONNX Sin-7.
    """
    return apply(OPERATOR, (floating("sin", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(np.cos(record.arrays[0]))


def reference(input: np.ndarray) -> np.ndarray:
    return np.imag(np.exp(1j * np.asarray(input, np.float64)))


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "sin",
    declaration=sin,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Sin")},
    methods=("sin",),
    inplace=("sin_",),
    reads="i",
    ufunc="sin",
    cases=CASES,
)
