"""A tensor plus a scaled quotient of two others."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators.add import add
from onemodel.operators.div import div
from onemodel.tensors.tensor import Tensor


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Any = 1) -> Tensor:
    """``input + value * tensor1 / tensor2`` with broadcasting.

    Raises TypeError for operands that are no tensors or numbers. Source: ``torch.addcdiv``.
    """
    return add(input, div(tensor1, tensor2), alpha=value)


def reference(input: np.ndarray, first: np.ndarray, second: np.ndarray, value: Any = 1) -> Any:
    return input + value * (np.asarray(first, np.float64) / second)


CASES = (
    Case((("batch", 3), ("batch", 3), In((3,), low=0.5)), reference=reference),
    Case(
        (("batch", 3), ("batch", 1), In((3,), low=0.5)),
        {"value": 0.5},
        reference=reference,
        name="value",
    ),
)

OPERATOR = Composite(
    "addcdiv", declaration=addcdiv, methods=("addcdiv",), inplace=("addcdiv_",), cases=CASES
)
