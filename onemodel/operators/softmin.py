"""Softmax of the negated input."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.neg import neg
from onemodel.operators.softmax import softmax
from onemodel.tensors.tensor import Tensor


def softmin(input: Tensor, dim: int = -1) -> Tensor:
    """``softmax(-input, dim)``: the smallest element gets the largest share.

    Shape and floating dtype are the input's. Raises IndexError for ``dim`` out of range.
    Source: ``torch.nn.functional.softmin``.
    """
    return softmax(neg(input), dim)


def reference(input: np.ndarray, dim: int = -1) -> np.ndarray:
    wide = np.exp(-np.asarray(input, np.float64))
    return wide / wide.sum(axis=dim, keepdims=True)


CASES = (
    Case((("batch", 5),), reference=reference),
    Case((("batch", 3, "width"),), {"dim": 1}, reference=reference, name="middle axis"),
)

OPERATOR = Composite("softmin", declaration=softmin, cases=CASES)
