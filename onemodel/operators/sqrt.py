"""Element-wise square root."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sqrt as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def sqrt(input: Tensor) -> Tensor:
    """The square root, NaN below 0. Integers are taken as the default dtype.

    Shape as the input's, a floating (or complex) dtype. Raises TypeError for anything but a
    tensor or number. Source: ``torch.sqrt``; ONNX Sqrt-6.
    """
    return apply(OPERATOR, (floating("sqrt", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad / conjugate(2 * record.results[0])


def reference(input: np.ndarray) -> np.ndarray:
    return np.asarray(input, np.float64) ** 0.5


CASES = (
    Case((In(("batch", 3), low=0.1, high=4.0),), reference=reference),
    Case((In((), low=0.1, high=4.0),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "sqrt",
    declaration=sqrt,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Sqrt")},
    methods=("sqrt",),
    inplace=("sqrt_",),
    reads="o",
    ufunc="sqrt",
    cases=CASES,
)
