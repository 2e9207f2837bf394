"""Element-wise quotient rounded down."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators.div import div
from onemodel.tensors.tensor import Tensor


def floor_divide(input: Any, other: Any) -> Tensor:
    """The quotient rounded down, as Python's ``//``; integers stay integers.

    Shapes: any two that broadcast. Raises ZeroDivisionError for an integer divided by 0.
    Source: ``torch.floor_divide``; ONNX Div-7.
    """
    return div(input, other, rounding_mode="floor")


def _nonzero(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(1, 5, shape) * generator.choice([-1, 1], shape)


CASES = (
    Case(
        (In(("batch", 3), low=-9, high=9), In((3,), low=0.5)),
        reference=lambda x, y: np.floor(np.asarray(x, np.float64) / y),
        gradient=False,
        lowest=10,
    ),
    Case(
        (In(("batch", 3), "int32", -9, 9), In((3,), "int32", values=_nonzero)),
        reference=lambda x, y: np.floor(np.asarray(x, np.float64) / y),
        name="integers",
    ),
    Case(
        (In(("batch", 3), low=-9, high=9),),
        call=lambda x: x // 0.1,
        reference=lambda x: np.floor_divide(x, np.float32(0.1)),
        gradient=False,
        lowest=10,
        name="inexact number",
    ),
)

OPERATOR = Composite(
    "floor_divide",
    declaration=floor_divide,
    methods=("floor_divide", "__floordiv__"),
    reflected=("__rfloordiv__",),
    inplace=("floor_divide_", "__ifloordiv__"),
    ufunc="floor_divide",
    cases=CASES,
)
