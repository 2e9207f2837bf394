"""Distance between pairs of vectors."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import operands
from onemodel.operators.norm import norm
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    """``norm(x1 - x2 + eps, p)`` over the last axis.

    Shapes: two that broadcast -> the broadcast shape without (or with size 1 in) the last axis.
    Raises ValueError for shapes that do not broadcast.
    Source: ``torch.nn.functional.pairwise_distance``.
    """
    (x1, x2), _ = operands("pairwise_distance", x1, x2)
    return norm(sub(x1, x2) + eps, p, -1, keepdim=keepdim)


def reference(
    x1: np.ndarray, x2: np.ndarray, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> np.ndarray:
    difference = np.abs(np.asarray(x1, np.float64) - x2 + eps)
    return (difference**p).sum(axis=-1, keepdims=keepdim) ** (1 / p)


CASES = (
    Case((("batch", 4), ("batch", 4)), reference=reference),
    Case((("batch", 4), (4,)), {"p": 3.0, "keepdim": True}, reference=reference, name="cubes"),
)

OPERATOR = Composite("pairwise_distance", declaration=pairwise_distance, cases=CASES)
