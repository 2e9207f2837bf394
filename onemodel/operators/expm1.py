"""Element-wise ``exp(input) - 1``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def expm1(input: Tensor) -> Tensor:
    """``exp(input) - 1``, exact near 0, too. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.expm1``; ONNX Exp-6 and Tanh-6.
    """
    return apply(OPERATOR, (floating("expm1", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.expm1(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad * (record.results[0] + 1)


def opset_7(g: Any, input: Any) -> Any:
    # exp(x) - 1 would lose everything near 0; this form of it does not.
    half = g.op("Tanh", g.op("Mul", input, g.like(0.5, input)))
    return g.op("Mul", g.op("Add", g.op("Exp", input), g.like(1, input)), half)


def reference(input: np.ndarray) -> np.ndarray:
    return np.exp(np.asarray(input, np.float64)) - 1


CASES = (
    Case((("batch", 3),), reference=reference),
    Case(((),), reference=reference, name="0-d"),
    Case(
        (In(("batch", 3), low=-1e-3, high=1e-3),), reference=np.expm1, tolerance=1e-9, name="small"
    ),
)

OPERATOR = Operator(
    "expm1",
    declaration=expm1,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("expm1",),
    inplace=("expm1_",),
    reads="o",
    ufunc="expm1",
    cases=CASES,
)
