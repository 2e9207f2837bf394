"""Entries of one axis, chosen by a list of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.gather import index_tensor
from onemodel.operators.index import look_up
from onemodel.operators.unsqueeze import unsqueeze
from onemodel.tensors.tensor import Tensor


def index_select(input: Tensor, dim: int, index: Any) -> Tensor:
    """The entries ``index`` (1-D, or 0-d for one) of axis ``dim``, in that order.

    Shape: the input's, with axis ``dim`` as long as ``index``. Raises IndexError for an index
    out of range, ValueError for an index of more axes. Source: ``torch.index_select``; ONNX
    Gather-1.
    """
    input = as_tensor("index_select", "input", input)
    index = index_tensor("index_select", index)
    if index.ndim > 1:
        raise ValueError(f"index_select: index must have one axis, not {index.ndim}")
    if input.ndim == 0:
        raise ValueError("index_select: a 0-d tensor has no axis to select from")
    index = unsqueeze(index, 0) if index.ndim == 0 else index
    return look_up(input, [index], (normalize_dim("index_select", dim, input.ndim),))


def reference(input: np.ndarray, index: np.ndarray, dim: int) -> np.ndarray:
    return np.take(input, np.atleast_1d(index), axis=dim)


def _call(input: Any, index: Any, dim: int) -> Tensor:
    return index_select(input, dim, index)


def _indices(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(0, 5, shape)


CASES = (
    Case((("batch", 5), In((3,), "int64", values=_indices)), {"dim": 1}, call=_call,
         reference=reference),
    Case(((5, "width"), In(("count",), "int32", values=_indices)), {"dim": -2}, call=_call,
         reference=reference, name="symbolic count"),
    Case((("batch", 5), In((), "int64", values=_indices)), {"dim": 1}, call=_call,
         reference=reference, name="one index"),
)  # fmt: skip

OPERATOR = Composite(
    "index_select", declaration=index_select, methods=("index_select",), cases=CASES
)
