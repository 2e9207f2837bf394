"""Soft sign, ``x / (1 + |x|)``."""

from __future__ import annotations

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import softsign as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes, unary
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def softsign(input: Tensor) -> Tensor:
    """``x / (1 + |x|)``.

    Shape as the input's, a floating dtype; integers are taken as the default one.
    Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.softsign``; ONNX Softsign-1.
    """
    return apply(OPERATOR, (floating("softsign", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return kernel.fast(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad / np.square(1 + np.abs(record.arrays[0]))


def reference(input: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.sign(wide) * (1 - 1 / (1 + np.abs(wide)))


CASES = (Case((("batch", 3),), reference=reference),)

OPERATOR = Operator(
    "softsign",
    declaration=softsign,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: unary("Softsign")},
    methods=("softsign",),
    inplace=("softsign_",),
    reads="i",
    cases=CASES,
)
