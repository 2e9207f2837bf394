"""Complementary error function."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import erf as kernel
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def erfc(input: Tensor) -> Tensor:
    """``1 - erf(input)``. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.erfc``; ONNX Erf-9.
    """
    return apply(OPERATOR, (floating("erfc", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.asarray(1 - kernel.fast(input))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * (-2 / math.sqrt(math.pi) * np.exp(-np.square(record.arrays[0])))


def opset_9(g: Any, input: Any) -> Any:
    return g.op("Sub", g.like(1, input), g.op("Erf", input))


def reference(input: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erfc, [np.float64])(input)


CASES = (
    Case((("batch", 3),), reference=reference, lowest=9),
    Case(((),), reference=reference, lowest=9, name="0-d"),
)

OPERATOR = Operator(
    "erfc",
    declaration=erfc,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={9: opset_9},
    methods=("erfc",),
    inplace=("erfc_",),
    reads="i",
    cases=CASES,
)
