"""Smooth L1 loss: the Huber loss divided by its width."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._losses import reduce_reference
from onemodel.operators._operator import Composite
from onemodel.operators.huber_loss import huber_loss
from onemodel.operators.l1_loss import l1_loss
from onemodel.tensors.tensor import Tensor


def smooth_l1_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", beta: float = 1.0
) -> Tensor:
    """``0.5*d**2/beta`` where d = |input - target| is below ``beta``, else ``d - 0.5*beta``.

    Shapes: two equal ones -> [] or, with reduction "none", the same; beta 0 is
    :func:`l1_loss`. Raises ValueError for unequal shapes, another reduction or a negative
    beta. Source: ``torch.nn.functional.smooth_l1_loss``.
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta must not be negative, it is {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return huber_loss(input, target, reduction=reduction, delta=beta) / beta


def _elementwise(x: np.ndarray, y: np.ndarray, beta: float = 1.0) -> np.ndarray:
    d = np.abs(x - y)
    return np.where(d < beta, 0.5 * d**2 / beta, d - 0.5 * beta) if beta else d


reference = reduce_reference(_elementwise)

CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 3), ("batch", 3)), {"reduction": "none", "beta": 0.5}, reference=reference,
         name="beta"),
    Case((("batch", 3), ("batch", 3)), {"beta": 0.0}, reference=reference, name="beta 0"),
)  # fmt: skip

OPERATOR = Composite("smooth_l1_loss", declaration=smooth_l1_loss, cases=CASES)
