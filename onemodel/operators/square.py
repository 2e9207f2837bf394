"""Element-wise square."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators.mul import mul
from onemodel.tensors.tensor import Tensor


def square(input: Tensor) -> Tensor:
    """``input * input``; shape and dtype are the input's.

    Raises TypeError for anything but a tensor or number. Source: ``torch.square``; ONNX Mul-7.
    """
    return mul(input, input)


CASES = (
    Case((("batch", 3),), reference=lambda x: np.power(np.asarray(x, np.float64), 2)),
    Case((In(("batch", 3), "int64", -9, 9),), reference=lambda x: x * x, name="integers"),
)

OPERATOR = Composite(
    "square",
    declaration=square,
    methods=("square",),
    inplace=("square_",),
    ufunc="square",
    cases=CASES,
)
