"""Element-wise linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.add import add
from onemodel.operators.mul import mul
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """``input + weight * (end - input)``; ``weight`` is a number or a tensor that broadcasts.

    Raises TypeError for operands that are no tensors or numbers. Source: ``torch.lerp``.
    """
    return add(input, mul(weight, sub(end, input)))


def reference(input: np.ndarray, end: np.ndarray, weight: Any) -> np.ndarray:
    return np.asarray(input, np.float64) * (1 - weight) + np.asarray(end, np.float64) * weight


CASES = (
    Case((("batch", 3), ("batch", 3)), {"weight": 0.3}, reference=reference),
    Case((("batch", 3), ("batch", 3), (3,)), reference=reference, name="tensor of weights"),
)

OPERATOR = Composite("lerp", declaration=lerp, methods=("lerp",), inplace=("lerp_",), cases=CASES)
