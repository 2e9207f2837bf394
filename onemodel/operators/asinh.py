"""Element-wise inverse hyperbolic sine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import asinh as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def asinh(input: Tensor) -> Tensor:
    """The inverse hyperbolic sine. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.asinh``; ONNX Asinh-9.
    """
    return apply(OPERATOR, (floating("asinh", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(1 / np.sqrt(1 + np.square(record.arrays[0])))


def reference(input: np.ndarray) -> np.ndarray:
    return np.log(np.asarray(input, np.float64) + np.sqrt(np.asarray(input, np.float64) ** 2 + 1))


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case(((),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "asinh",
    declaration=asinh,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: unary("Asinh")},
    methods=(
        "asinh",
        "arcsinh",
    ),
    inplace=("asinh_",),
    reads="i",
    ufunc="arcsinh",
    cases=CASES,
)
