"""Element-wise cosine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import cos as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def cos(input: Tensor) -> Tensor:
    """The cosine. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.cos``; ONNX Cos-7.
    """
    return apply(OPERATOR, (floating("cos", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(-np.sin(record.arrays[0]))


def reference(input: np.ndarray) -> np.ndarray:
    return np.real(np.exp(1j * np.asarray(input, np.float64)))


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "cos",
    declaration=cos,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Cos")},
    methods=("cos",),
    inplace=("cos_",),
    reads="i",
    ufunc="cos",
    cases=CASES,
)
