"""One value where a mask holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor, operand
from onemodel.operators.where import where
from onemodel.tensors.tensor import Tensor


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``value`` (a number or 0-d tensor) where the bool ``mask`` holds, else the element.

    ``mask`` broadcasts with ``input``; dtype as the input's. Raises TypeError for a mask of
    another dtype, ValueError for a value with axes. Source: ``torch.Tensor.masked_fill``;
    ONNX Where-9.
    """
    input = as_tensor("masked_fill", "input", input)
    if isinstance(value, Tensor) and value.ndim:
        raise ValueError(f"masked_fill: value must be one number, not shape {list(value.shape)}")
    return where(mask, operand(value, input.dtype), input)


def reference(input: np.ndarray, mask: np.ndarray, value: float) -> np.ndarray:
    result = np.array(np.broadcast_arrays(input, mask)[0])
    result[np.broadcast_to(mask, result.shape)] = value
    return result


CASES = (
    Case(
        (("batch", 3), In(("batch", 3), "bool")),
        {"value": -1.5},
        reference=reference,
        lowest=9,
    ),
    Case(
        (("batch", 2, 3), In((3,), "bool")),
        {"value": float("-inf")},
        reference=reference,
        gradient=False,
        lowest=9,
        name="infinity",
    ),
)

OPERATOR = Composite(
    "masked_fill",
    declaration=masked_fill,
    methods=("masked_fill",),
    inplace=("masked_fill_",),
    cases=CASES,
)
