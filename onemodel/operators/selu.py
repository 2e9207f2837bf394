"""Scaled exponential linear unit."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import selu as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor

_ALPHA = 1.6732632423543772
_SCALE = 1.0507009873554805


def selu(input: Tensor) -> Tensor:
    """``scale * (x or alpha * (exp(x) - 1))`` with the constants that keep mean and variance.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.selu``; ONNX Selu-6.
    """
    return apply(OPERATOR, (floating("selu", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    x = record.arrays[0]
    below = _SCALE * _ALPHA * np.exp(np.minimum(x, 0))
    return grad * np.where(x > 0, _SCALE, below).astype(x.dtype)


def reference(input: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return _SCALE * np.where(wide < 0, _ALPHA * (np.exp(wide) - 1), wide)


CASES = (Case((("batch", 3),), reference=reference),)

OPERATOR = Operator(
    "selu",
    declaration=selu,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Selu")},
    methods=("selu",),
    inplace=("selu_",),
    reads="i",
    cases=CASES,
)
