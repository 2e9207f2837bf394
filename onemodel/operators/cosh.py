"""Element-wise hyperbolic cosine."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import cosh as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def cosh(input: Tensor) -> Tensor:
    """The hyperbolic cosine. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.cosh``; ONNX Cosh-9.
    """
    return apply(OPERATOR, (floating("cosh", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(np.sinh(record.arrays[0]))


def reference(input: np.ndarray) -> np.ndarray:
    return (np.exp(np.asarray(input, np.float64)) + np.exp(-np.asarray(input, np.float64))) / 2


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case(((),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "cosh",
    declaration=cosh,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: unary("Cosh")},
    methods=("cosh",),
    inplace=("cosh_",),
    reads="i",
    ufunc="cosh",
    cases=CASES,
)
