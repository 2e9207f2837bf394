"""Where a tensor is not zero."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor
from onemodel.tensors.tensor import Tensor


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """[count, ndim] indices of the elements that are not zero, or one [count] tensor per axis.

    int64, in row-major order. Its size depends on values, so that a trace refuses it (OM111).
    Source: ``torch.nonzero``.
    """
    input = as_tensor("nonzero", "input", input)
    found = apply(OPERATOR, (input,))
    return tuple(Tensor(column) for column in found._array.T) if as_tuple else found


def forward(input: np.ndarray) -> np.ndarray:
    return np.argwhere(input)


def refuse(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM111",
        "how many elements are not zero depends on the values, so that the result has no size",
        (
            ("choose element by element", "om.where(x != 0, x, 0)"),
            ("count them", "(x != 0).sum()"),
        ),
    )


def reference(input: np.ndarray) -> np.ndarray:
    return np.stack(np.nonzero(input), axis=-1)


CASES = (
    Case((In(("batch", 3), "int64", -1, 2),), reference=reference, trace=False),
    Case((In(("batch", 3, 2), "bool"),), call=lambda x: nonzero(x, as_tuple=True),
         reference=np.nonzero, trace=False, name="as a tuple"),
)  # fmt: skip

OPERATOR = Operator(
    "nonzero",
    declaration=nonzero,
    forward=forward,
    methods=("nonzero",),
    refuses=refuse,
    reads="",
    cases=CASES,
)
