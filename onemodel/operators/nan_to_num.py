"""Numbers instead of NaN and the infinities."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.eq import eq
from onemodel.operators.isnan import isnan
from onemodel.operators.where import where
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def nan_to_num(
    input: Tensor, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """``nan`` for NaN, ``posinf`` and ``neginf`` for the infinities (else the dtype's ends).

    Shape and dtype are the input's; integers stay as they are. Raises TypeError for anything
    but a tensor. Source: ``torch.nan_to_num``.
    """
    value = as_tensor("nan_to_num", "input", input)
    if category(value.dtype) < 2:
        return value
    ends = ml_dtypes.finfo(value.dtype)
    high = float(ends.max) if posinf is None else posinf
    low = float(ends.min) if neginf is None else neginf
    result = where(isnan(value), nan, value)
    result = where(eq(value, math.inf), high, result)
    return where(eq(value, -math.inf), low, result)


def _special(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([np.nan, np.inf, -np.inf, 0.5, -1.5], shape)


CASES = (
    Case((In(("batch", 5), values=_special),), reference=np.nan_to_num, gradient=False, lowest=9),
    Case(
        (In(("batch", 5), values=_special),),
        {"nan": 1.0, "posinf": 2.0, "neginf": 3.0},
        reference=np.nan_to_num,
        gradient=False,
        lowest=9,
        name="numbers",
    ),
    Case((("batch", 3),), reference=np.asarray, lowest=9, name="finite"),
    Case(
        (In(("batch", 3), "int64", -9, 9),),
        call=lambda x: nan_to_num(x) + 0,
        reference=np.asarray,
        name="integers",
    ),
)

OPERATOR = Composite(
    "nan_to_num",
    declaration=nan_to_num,
    methods=("nan_to_num",),
    inplace=("nan_to_num_",),
    cases=CASES,
)
