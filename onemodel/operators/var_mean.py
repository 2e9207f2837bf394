"""Variance and mean over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.mean import mean
from onemodel.operators.std import std
from onemodel.operators.var import var
from onemodel.tensors.tensor import Tensor


def var_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(:func:`var`, :func:`mean`) over the same axes. Source: ``torch.var_mean``."""
    variance = var(input, dim, unbiased, keepdim, correction=correction)
    return variance, mean(input, dim, keepdim)


def std_mean(
    input: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:
    """(:func:`std`, :func:`mean`) over the same axes. Source: ``torch.std_mean``."""
    return std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)


CASES = (
    Case(
        (("batch", 3),),
        {"dim": 1, "keepdim": True},
        reference=lambda x, dim, keepdim: (
            np.var(np.asarray(x, np.float64), axis=dim, ddof=1, keepdims=keepdim),
            np.sum(np.asarray(x, np.float64), axis=dim, keepdims=keepdim) / np.shape(x)[dim],
        ),
    ),
)

OPERATOR = Composite("var_mean", declaration=var_mean, cases=CASES)

ALSO = (
    Composite(
        "std_mean",
        declaration=std_mean,
        cases=(
            Case(
                (("batch", 3),),
                reference=lambda x: (np.std(np.asarray(x, np.float64), ddof=1), np.sum(x) / x.size),
            ),
        ),
    ),
)
