"""Element-wise logical and."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels import and_ as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import binary, broadcast_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.to import to
from onemodel.tensors.tensor import Tensor


def logical_and(input: Any, other: Any) -> Tensor:
    """True where both are True (or not 0); bool, no gradient.

    Shapes: any two that broadcast. Raises TypeError for operands that are no tensors or numbers.
    Source: ``torch.logical_and``; ONNX And-7.
    """
    left, right = as_tensor("logical_and", "input", input), as_tensor("logical_and", "other", other)
    return apply(OPERATOR, (to(left, np.bool_), to(right, np.bool_)))


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)


CASES = (
    Case((In(("batch", 3), "bool"), In((3,), "bool")), reference=np.logical_and),
    Case(
        (In(("batch", 3), "int64", -1, 2), In(("batch", 3), "int64", -1, 2)),
        reference=np.logical_and,
        name="integers",
    ),
)

OPERATOR = Operator(
    "logical_and",
    declaration=logical_and,
    forward=forward,
    axes=broadcast_axes,
    symbolic={7: binary("And")},
    methods=("logical_and",),
    reads="",
    ufunc="logical_and",
    cases=CASES,
)
