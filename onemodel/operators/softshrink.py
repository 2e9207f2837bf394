"""Each element brought nearer to 0."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import floating
from onemodel.operators.clamp import clamp
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """Each element nearer to 0 by ``lambd``, and 0 inside [-lambd, lambd]. NaN stays NaN.

    Shape as the input's, a floating dtype. Raises ValueError for a negative ``lambd``.
    Source: ``torch.nn.functional.softshrink``.
    """
    if lambd < 0:
        raise ValueError(f"softshrink: lambd must be 0 or more, not {lambd}")
    value = floating("softshrink", "input", input)
    return sub(value, clamp(value, -lambd, lambd))


def reference(input: np.ndarray, lambd: float = 0.5) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return np.sign(wide) * np.maximum(np.abs(wide) - lambd, 0)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3),), {"lambd": 1.0}, reference=reference, name="lambd"),
)

OPERATOR = Composite("softshrink", declaration=softshrink, methods=("softshrink",), cases=CASES)
