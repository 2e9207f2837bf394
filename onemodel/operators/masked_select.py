"""The elements where a mask is True."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor, unbroadcast
from onemodel.tensors.tensor import Tensor


def masked_select(input: Tensor, mask: Any) -> Tensor:
    """A 1-D tensor of the elements where ``mask`` is True; the two broadcast.

    Its size depends on values, so that a trace refuses it (OM112). Raises TypeError for a mask
    that is not of bool. Source: ``torch.masked_select``.
    """
    input = as_tensor("masked_select", "input", input)
    mask = as_tensor("masked_select", "mask", mask)
    if mask._array.dtype != np.bool_:
        raise TypeError(f"masked_select: the mask must be of bool, not {mask._array.dtype}")
    return apply(OPERATOR, (input, mask))


def forward(input: np.ndarray, mask: np.ndarray) -> np.ndarray:
    wide, chosen = np.broadcast_arrays(input, mask)
    return wide[chosen]


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, None]:
    mask = record.arrays[1]
    shape = np.broadcast_shapes(record.shapes[0], mask.shape)
    result = np.zeros(shape, grad.dtype)
    result[np.broadcast_to(mask, shape)] = grad
    return unbroadcast(result, record.shapes[0]), None


def refuse(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM112",
        "how many elements a mask picks depends on its values, so that the result has no size",
        (
            ("choose element by element", "om.where(mask, x, 0)"),
            ("reduce what the mask picks", "om.where(mask, x, 0).sum()"),
        ),
    )


def reference(input: np.ndarray, mask: np.ndarray) -> np.ndarray:
    shape = np.broadcast_shapes(input.shape, mask.shape)
    return np.extract(np.broadcast_to(mask, shape), np.broadcast_to(input, shape))


CASES = (
    Case((("batch", 3), In(("batch", 3), "bool")), reference=reference, trace=False),
    Case((("batch", 1), In((3,), "bool")), reference=reference, trace=False, name="broadcast"),
)

OPERATOR = Operator(
    "masked_select",
    declaration=masked_select,
    forward=forward,
    backward=backward,
    methods=("masked_select",),
    refuses=refuse,
    reads="i",
    cases=CASES,
)
