"""Mean absolute error."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._losses import reduce_reference, reduced, same_shape
from onemodel.operators._operator import Composite
from onemodel.operators._promote import operands
from onemodel.operators.abs import abs
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def l1_loss(input: Tensor, target: Tensor, *, reduction: str = "mean") -> Tensor:
    """``|input - target|``, averaged, summed or left by element.

    Shapes: two equal ones -> [] or, with reduction "none", the same. Raises ValueError for
    unequal shapes or another reduction. Source: ``torch.nn.functional.l1_loss``.
    """
    (input, target), _ = operands("l1_loss", input, target)
    same_shape("l1_loss", input, target)
    return reduced("l1_loss", abs(sub(input, target)), reduction)


reference = reduce_reference(lambda x, y: np.abs(x - y))

CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 3), ("batch", 3)), {"reduction": "none"}, reference=reference, name="none"),
)

OPERATOR = Composite("l1_loss", declaration=l1_loss, cases=CASES)
