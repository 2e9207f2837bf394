"""Element-wise inverse hyperbolic cosine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import acosh as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def acosh(input: Tensor) -> Tensor:
    """The inverse hyperbolic cosine, NaN below 1. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.acosh``; ONNX Acosh-9.
    """
    return apply(OPERATOR, (floating("acosh", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(1 / np.sqrt(np.square(record.arrays[0]) - 1))


def reference(input: np.ndarray) -> np.ndarray:
    return np.log(np.asarray(input, np.float64) + np.sqrt(np.asarray(input, np.float64) ** 2 - 1))


CASES = (
    Case((In(("batch", 3), low=1.2, high=4.0),), reference=reference, lowest=9),
    Case((In((), low=1.2, high=4.0),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "acosh",
    declaration=acosh,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: unary("Acosh")},
    methods=(
        "acosh",
        "arccosh",
    ),
    inplace=("acosh_",),
    reads="i",
    ufunc="arccosh",
    cases=CASES,
)
