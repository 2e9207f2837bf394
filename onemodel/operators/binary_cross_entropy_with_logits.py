"""Cross entropy of yes and no from scores: sigmoid and logarithm in one."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._losses import reduce_reference, reduced, same_shape
from onemodel.operators._operator import Composite
from onemodel.operators._promote import operands
from onemodel.operators.log_sigmoid import log_sigmoid
from onemodel.operators.mul import mul
from onemodel.tensors.tensor import Tensor


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Any = None,
    *,
    reduction: str = "mean",
    pos_weight: Any = None,
) -> Tensor:
    """:func:`binary_cross_entropy` of ``sigmoid(input)``, without its rounding.

    Shapes: two equal ones; ``weight`` and ``pos_weight`` (for the part of the positive answers)
    broadcast to them -> [] or, with reduction "none", the same. Raises ValueError for unequal
    shapes or another reduction.
    Source: ``torch.nn.functional.binary_cross_entropy_with_logits``.
    """
    name = "binary_cross_entropy_with_logits"
    (input, target), _ = operands(name, input, target)
    same_shape(name, input, target)
    # log(1 - sigmoid(x)) = log_sigmoid(x) - x
    share = log_sigmoid(input)
    if pos_weight is not None:
        share = mul(share, (1 - target) + mul(target, pos_weight))
    loss = (1 - target) * input - share
    loss = loss if weight is None else mul(loss, weight)
    return reduced(name, loss, reduction)


def _elementwise(
    x: np.ndarray, y: np.ndarray, w: np.ndarray | float = 1.0, p: np.ndarray | float = 1.0
) -> np.ndarray:
    yes, no = -np.logaddexp(0, -x), -np.logaddexp(0, x)
    return -(p * y * yes + (1 - y) * no) * w


reference = reduce_reference(_elementwise)
_TARGET = In(("batch", 3), low=0.0, high=1.0)


def _call(x: Tensor, y: Tensor, *weights: Tensor, **options: Any) -> Tensor:
    weight, pos_weight = weights or (None, None)
    return binary_cross_entropy_with_logits(x, y, weight, pos_weight=pos_weight, **options)


CASES = (
    Case((("batch", 3), _TARGET), reference=reference),
    Case((("batch", 3), _TARGET, (3,), In((3,), low=0.5, high=3)), {"reduction": "sum"},
         call=_call, reference=reference, name="weights"),
    Case((In(("batch", 3), low=-90, high=90), _TARGET), {"reduction": "none"}, tolerance=1e-4,
         reference=reference, name="large scores"),
)  # fmt: skip

OPERATOR = Composite(
    "binary_cross_entropy_with_logits",
    declaration=binary_cross_entropy_with_logits,
    cases=CASES,
)
