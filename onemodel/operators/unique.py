"""The distinct elements of a tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.tensors.tensor import Tensor


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False,
    return_counts: bool = False, dim: int | None = None,
) -> Any:  # fmt: skip
    """The distinct elements (or slices along ``dim``), rising; with their inverse and counts.

    They are sorted in any case. NaNs are all distinct. Its size depends on values, so that a
    trace refuses it (OM112). Source: ``torch.unique``.
    """
    input = as_tensor("unique", "input", input)
    place = None if dim is None else normalize_dim("unique", dim, input.ndim)
    values, inverse, counts = apply(OPERATOR, (input,), {"dim": place})
    wanted = [values]
    if return_inverse:
        wanted.append(inverse)
    if return_counts:
        wanted.append(counts)
    return wanted[0] if len(wanted) == 1 else tuple(wanted)


def forward(input: np.ndarray, *, dim: int | None) -> tuple[np.ndarray, ...]:
    values, inverse, counts = np.unique(
        input, return_inverse=True, return_counts=True, axis=dim, equal_nan=False
    )
    shape = input.shape if dim is None else (input.shape[dim],)
    return values, inverse.reshape(shape), counts


def refuse(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM112",
        "how many elements are distinct depends on the values, so that the result has no size",
        (("sort, and mark where a new value begins", "s = x.sort()[0]; s[1:] != s[:-1]"),),
    )


def _call(input: Any, dim: int | None = None) -> Any:
    return unique(input, return_inverse=True, return_counts=True, dim=dim)


def reference(input: np.ndarray, dim: int | None = None) -> list[np.ndarray]:
    rows = list(input.reshape(-1)) if dim is None else [tuple(row) for row in input]
    distinct = sorted(set(rows))
    values = np.asarray(distinct, input.dtype)
    if dim is not None:
        values = values.reshape(-1, *input.shape[1:])
    inverse = np.asarray([distinct.index(row) for row in rows], np.int64)
    counts = np.asarray([rows.count(row) for row in distinct], np.int64)
    return [values, inverse.reshape(input.shape) if dim is None else inverse, counts]


CASES = (
    Case((In(("batch", 3), "int64", -2, 3),), call=_call, reference=reference, trace=False),
    Case((In((7, 2), "int32", 0, 2),), {"dim": 0}, call=_call, reference=reference, trace=False,
         name="rows"),
)  # fmt: skip

OPERATOR = Operator(
    "unique",
    declaration=unique,
    forward=forward,
    methods=("unique",),
    refuses=refuse,
    reads="",
    cases=CASES,
)
