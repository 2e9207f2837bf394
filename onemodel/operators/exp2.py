"""Element-wise power of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def exp2(input: Tensor) -> Tensor:
    """``2 ** input``. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.exp2``; ONNX Pow-7.
    """
    return apply(OPERATOR, (floating("exp2", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.exp2(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * (record.results[0] * math.log(2))


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Pow", g.like(2, input), input)


def reference(input: np.ndarray) -> np.ndarray:
    return 2.0 ** np.asarray(input, np.float64)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "exp2",
    declaration=exp2,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("exp2",),
    inplace=("exp2_",),
    reads="o",
    ufunc="exp2",
    cases=CASES,
)
