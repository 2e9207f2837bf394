"""Gated linear unit."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import floating, normalize_dim
from onemodel.operators.chunk import chunk
from onemodel.operators.mul import mul
from onemodel.operators.sigmoid import sigmoid
from onemodel.tensors.tensor import Tensor


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """The first half along ``dim`` times the logistic function of the second half.

    Shape: ``dim`` is halved. Raises ValueError where its size is odd, IndexError where it is
    out of range. Source: ``torch.nn.functional.glu``.
    """
    value = floating("glu", "input", input)
    axis = normalize_dim("glu", dim, value.ndim)
    if value.ndim == 0 or value._array.shape[axis] % 2:
        raise ValueError(f"glu: an axis of even size is halved, not of shape {list(value.shape)}")
    gated, gate = chunk(value, 2, axis)
    return mul(gated, sigmoid(gate))


def reference(input: np.ndarray, dim: int = -1) -> np.ndarray:
    gated, gate = np.split(np.asarray(input, np.float64), 2, axis=dim)
    return gated / (1 + np.exp(-gate))


CASES = (
    Case((("batch", 6),), reference=reference),
    Case((("batch", 4, "time"),), {"dim": 1}, reference=reference, name="middle axis"),
)

OPERATOR = Composite("glu", declaration=glu, methods=("glu",), cases=CASES)
