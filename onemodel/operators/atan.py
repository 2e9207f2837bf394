"""Element-wise inverse tangent."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import atan as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def atan(input: Tensor) -> Tensor:
    """The inverse tangent. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.atan``; ONNX Atan-7.
    """
    return apply(OPERATOR, (floating("atan", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(1 / (1 + np.square(record.arrays[0])))


def reference(input: np.ndarray) -> np.ndarray:
    return np.angle(1 + 1j * np.asarray(input, np.float64))


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "atan",
    declaration=atan,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Atan")},
    methods=(
        "atan",
        "arctan",
    ),
    inplace=("atan_",),
    reads="i",
    ufunc="arctan",
    cases=CASES,
)
