"""A tensor plus a scaled product of two others."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.add import add
from onemodel.operators.mul import mul
from onemodel.tensors.tensor import Tensor


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 * tensor2`` with broadcasting.

    Raises TypeError for operands that are no tensors or numbers. Source: ``torch.addcmul``.
    """
    return add(input, mul(tensor1, tensor2), alpha=value)


def reference(input: np.ndarray, first: np.ndarray, second: np.ndarray, value: Any = 1) -> Any:
    return input + value * np.asarray(first, np.float64) * second


CASES = (
    Case((("batch", 3), ("batch", 3), (3,)), reference=reference),
    Case((("batch", 3), ("batch", 1), (3,)), {"value": 0.5}, reference=reference, name="value"),
)

OPERATOR = Composite(
    "addcmul", declaration=addcmul, methods=("addcmul",), inplace=("addcmul_",), cases=CASES
)
