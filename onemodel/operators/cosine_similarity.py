"""Cosine of the angle between vectors."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import operands
from onemodel.operators.clamp import clamp
from onemodel.operators.div import div
from onemodel.operators.mul import mul
from onemodel.operators.norm import norm
from onemodel.operators.sum import sum as total
from onemodel.tensors.tensor import Tensor


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """``sum(x1 * x2) / (max(|x1|, eps) * max(|x2|, eps))`` along ``dim``.

    Shapes: two that broadcast -> the broadcast shape without ``dim``. Raises IndexError for
    ``dim`` out of range. Source: ``torch.nn.functional.cosine_similarity``.
    """
    (x1, x2), _ = operands("cosine_similarity", x1, x2)
    axis = dim if dim < 0 else dim - max(x1.ndim, x2.ndim)
    sizes = [clamp(norm(x, 2, axis, keepdim=True), min=eps) for x in (x1, x2)]
    return total(mul(div(x1, sizes[0]), div(x2, sizes[1])), axis)


def reference(x1: np.ndarray, x2: np.ndarray, dim: int = 1, eps: float = 1e-8) -> np.ndarray:
    a, b = np.broadcast_arrays(np.asarray(x1, np.float64), np.asarray(x2, np.float64))
    sizes = [np.maximum(np.sqrt((v**2).sum(axis=dim)), eps) for v in (a, b)]
    return (a * b).sum(axis=dim) / (sizes[0] * sizes[1])


CASES = (
    Case((("batch", 4), ("batch", 4)), reference=reference),
    Case((("batch", "time", 3), (1, 3)), {"dim": -1}, reference=reference, name="broadcast"),
)

OPERATOR = Composite(
    "cosine_similarity",
    declaration=cosine_similarity,
    methods=("cosine_similarity",),
    cases=CASES,
)
