"""Huber loss: squared near zero, absolute far away."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._losses import reduce_reference, reduced, same_shape
from onemodel.operators._operator import Composite
from onemodel.operators._promote import operands
from onemodel.operators.abs import abs
from onemodel.operators.clamp import clamp
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def huber_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", delta: float = 1.0
) -> Tensor:
    """``0.5*d**2`` where d = |input - target| is below ``delta``, else ``delta*(d - 0.5*delta)``.

    Shapes: two equal ones -> [] or, with reduction "none", the same. Raises ValueError for
    unequal shapes, another reduction or a delta that is not positive.
    Source: ``torch.nn.functional.huber_loss``.
    """
    if delta <= 0:
        raise ValueError(f"huber_loss: delta must be positive, not {delta}")
    (input, target), _ = operands("huber_loss", input, target)
    same_shape("huber_loss", input, target)
    distance = abs(sub(input, target))
    # min(d, delta) * (d - min(d, delta)/2) is both branches in one, with the same gradient.
    near = clamp(distance, max=delta)
    return reduced("huber_loss", near * (distance - near * 0.5), reduction)


def _elementwise(x: np.ndarray, y: np.ndarray, delta: float = 1.0) -> np.ndarray:
    d = np.abs(x - y)
    return np.where(d < delta, 0.5 * d**2, delta * (d - 0.5 * delta))


reference = reduce_reference(_elementwise)

CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 3), ("batch", 3)), {"reduction": "sum", "delta": 0.4}, reference=reference,
         name="delta"),
)  # fmt: skip

OPERATOR = Composite("huber_loss", declaration=huber_loss, cases=CASES)
