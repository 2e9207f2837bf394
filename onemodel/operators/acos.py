"""Element-wise inverse cosine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import acos as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def acos(input: Tensor) -> Tensor:
    """The inverse cosine, NaN outside [-1, 1]. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.acos``; ONNX Acos-7.
    """
    return apply(OPERATOR, (floating("acos", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(-1 / np.sqrt(1 - np.square(record.arrays[0])))


def reference(input: np.ndarray) -> np.ndarray:
    return np.arctan2(np.sqrt(1 - np.asarray(input, np.float64) ** 2), input)


CASES = (
    Case((In(("batch", 3), low=-0.9, high=0.9),), reference=reference),
    Case((In((), low=-0.9, high=0.9),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "acos",
    declaration=acos,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Acos")},
    methods=(
        "acos",
        "arccos",
    ),
    inplace=("acos_",),
    reads="i",
    ufunc="arccos",
    cases=CASES,
)
