"""Element-wise error function."""

from __future__ import annotations

import math

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import erf as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def erf(input: Tensor) -> Tensor:
    """The error function; integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.erf``; ONNX Erf-9.
    """
    return apply(OPERATOR, (floating("erf", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * (2 / math.sqrt(math.pi) * np.exp(-np.square(record.arrays[0])))


def reference(input: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, [np.float64])(input)


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case(((),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "erf",
    declaration=erf,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: unary("Erf")},
    methods=("erf",),
    inplace=("erf_",),
    reads="i",
    cases=CASES,
)
