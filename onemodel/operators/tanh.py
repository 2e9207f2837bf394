"""Element-wise hyperbolic tangent."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import tanh as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import conjugate, same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def tanh(input: Tensor) -> Tensor:
    """The hyperbolic tangent; integers are taken as the default dtype.

    Shape as the input's, a floating (or complex) dtype. Raises TypeError for anything but a
    tensor or number. Source: ``torch.tanh``; ONNX Tanh-6.
    """
    return apply(OPERATOR, (floating("tanh", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * conjugate(1 - np.square(record.results[0]))


def reference(input: np.ndarray) -> np.ndarray:
    rising = np.exp(2 * np.asarray(input, np.float64))
    return (rising - 1) / (rising + 1)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "tanh",
    declaration=tanh,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Tanh")},
    methods=("tanh",),
    inplace=("tanh_",),
    reads="o",
    ufunc="tanh",
    cases=CASES,
)
