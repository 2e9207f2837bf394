"""Vectors of length one."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.clamp import clamp
from onemodel.operators.div import div
from onemodel.operators.norm import norm
from onemodel.tensors.tensor import Tensor


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Tensor:
    """``input / max(norm(input, p, dim), eps)``.

    Shape and floating dtype are the input's. Raises IndexError for ``dim`` out of range.
    Source: ``torch.nn.functional.normalize``.
    """
    input = as_tensor("normalize", "input", input)
    return div(input, clamp(norm(input, p, dim, keepdim=True), min=eps))


def reference(input: np.ndarray, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> np.ndarray:
    x = np.asarray(input, np.float64)
    size = (np.abs(x) ** p).sum(axis=dim, keepdims=True) ** (1 / p)
    return x / np.maximum(size, eps)


CASES = (
    Case((("batch", 4),), reference=reference),
    Case((("batch", 3, "width"),), {"p": 3.0, "dim": -1}, reference=reference, name="cubes"),
)

OPERATOR = Composite("normalize", declaration=normalize, cases=CASES)
