"""Element-wise inverse hyperbolic tangent."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import atanh as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def atanh(input: Tensor) -> Tensor:
    """The inverse hyperbolic tangent, NaN outside [-1, 1]. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.atanh``; ONNX Atanh-9.
    """
    return apply(OPERATOR, (floating("atanh", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(1 / (1 - np.square(record.arrays[0])))


def reference(input: np.ndarray) -> np.ndarray:
    return np.log((1 + np.asarray(input, np.float64)) / (1 - np.asarray(input, np.float64))) / 2


CASES = (
    Case((In(("batch", 3), low=-0.9, high=0.9),), reference=reference, lowest=9),
    Case((In((), low=-0.9, high=0.9),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "atanh",
    declaration=atanh,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: unary("Atanh")},
    methods=(
        "atanh",
        "arctanh",
    ),
    inplace=("atanh_",),
    reads="i",
    ufunc="arctanh",
    cases=CASES,
)
