"""Element-wise ``log(1 + input)``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import floating
from onemodel.tensors.tensor import Tensor


def log1p(input: Tensor) -> Tensor:
    """``log(1 + input)``, exact near 0, too; NaN below -1. Integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.log1p``; ONNX Log-6.
    """
    return apply(OPERATOR, (floating("log1p", "input", input),))


def forward(input: np.ndarray) -> np.ndarray:
    return np.log1p(input)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad / (record.arrays[0] + 1)


def opset_7(g: Any, input: Any) -> Any:
    return g.op("Log", g.op("Add", input, g.like(1, input)))


def opset_9(g: Any, input: Any) -> Any:
    # Near 0 what rounding took from 1 + x is put back: log(u) + (x - (u - 1)) / u.
    one = g.like(1, input)
    shifted = g.op("Add", input, one)
    plain = g.op("Log", shifted)
    lost = g.op("Sub", input, g.op("Sub", shifted, one))
    near = g.op("Less", g.op("Abs", input), g.like(0.5, input))
    return g.op("Where", near, g.op("Add", plain, g.op("Div", lost, shifted)), plain)


def reference(input: np.ndarray) -> np.ndarray:
    return np.log(1 + np.asarray(input, np.float64))


CASES = (
    Case((In(("batch", 3), low=-0.9, high=4.0),), reference=reference),
    Case((In((), low=-0.9, high=4.0),), reference=reference, name="0-d"),
    Case(
        (In(("batch", 3), low=-1e-3, high=1e-3),), reference=np.log1p, tolerance=1e-7, name="small"
    ),
)

OPERATOR = Operator(
    "log1p",
    declaration=log1p,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7, 9: opset_9},
    methods=("log1p",),
    inplace=("log1p_",),
    reads="i",
    ufunc="log1p",
    cases=CASES,
)
