"""Inverse of the logistic function."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import floating
from onemodel.operators.clamp import clamp
from onemodel.operators.div import div
from onemodel.operators.log import log
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def logit(input: Tensor, eps: float | None = None) -> Tensor:
    """``log(x / (1 - x))``; with ``eps``, of x held in [eps, 1 - eps]. NaN outside [0, 1].

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.logit``.
    """
    value = floating("logit", "input", input)
    if eps is not None:
        value = clamp(value, eps, 1 - eps)
    return log(div(value, sub(1, value)))


def reference(input: np.ndarray, eps: float | None = None) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    if eps is not None:
        wide = np.clip(wide, eps, 1 - eps)
    return np.log(wide) - np.log(1 - wide)


CASES = (
    Case((In(("batch", 3), low=0.1, high=0.9),), reference=reference),
    Case((In(("batch", 3), low=-0.2, high=1.2),), {"eps": 0.1}, reference=reference, name="eps"),
)

OPERATOR = Composite(
    "logit", declaration=logit, methods=("logit",), inplace=("logit_",), cases=CASES
)
