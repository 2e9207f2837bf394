"""Element-wise exponential."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import exp as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def exp(input: Tensor) -> Tensor:
    """``e ** input``; integers are taken as the default dtype.

    Shape as the input's, a floating (or complex) dtype. Raises TypeError for anything but a
    tensor or number. Source: ``torch.exp``; ONNX Exp-6.
    """
    return apply(OPERATOR, (floating("exp", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(record.results[0])


def reference(input: np.ndarray) -> np.ndarray:
    return np.exp(np.asarray(input, np.float64))


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "exp",
    declaration=exp,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Exp")},
    methods=("exp",),
    inplace=("exp_",),
    reads="o",
    ufunc="exp",
    cases=CASES,
)
