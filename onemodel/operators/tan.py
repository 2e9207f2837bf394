"""Element-wise tangent."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import tan as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def tan(input: Tensor) -> Tensor:
    """The tangent. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.tan``; ONNX Tan-7.
    """
    return apply(OPERATOR, (floating("tan", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(1 + np.square(record.results[0]))


def reference(input: np.ndarray) -> np.ndarray:
    return np.sin(np.asarray(input, np.float64)) / np.cos(input)


CASES = (
    Case((In(("batch", 3), low=-1.2, high=1.2),), reference=reference),
    Case((In((), low=-1.2, high=1.2),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "tan",
    declaration=tan,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Tan")},
    methods=("tan",),
    inplace=("tan_",),
    reads="o",
    ufunc="tan",
    cases=CASES,
)
