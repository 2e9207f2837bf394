"""Mean squared error."""

from __future__ import annotations

from typing import Any

from onemodel.operators._case import Case
from onemodel.operators._losses import reduce_reference, reduced, same_shape
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor, operands
from onemodel.operators.div import div
from onemodel.operators.mul import mul
from onemodel.operators.sub import sub
from onemodel.operators.sum import sum as total
from onemodel.tensors.tensor import Tensor


def mse_loss(
    input: Tensor, target: Tensor, *, reduction: str = "mean", weight: Any = None
) -> Tensor:
    """``(input - target)**2``, times ``weight``, then averaged, summed or left by element.

    Shapes: equal ones -> [] or, with reduction "none", the same. With a weight the mean
    divides by the sum of the weights. Raises ValueError for unequal shapes or another
    reduction. Source: ``torch.nn.functional.mse_loss``.
    """
    (input, target), _ = operands("mse_loss", input, target)
    same_shape("mse_loss", input, target)
    difference = sub(input, target)
    loss = mul(difference, difference)
    if weight is None:
        return reduced("mse_loss", loss, reduction)
    weight = as_tensor("mse_loss", "weight", weight)
    same_shape("mse_loss", input, weight)
    weighted = mul(loss, weight)
    if reduction != "mean":
        return reduced("mse_loss", weighted, reduction)
    return div(total(weighted), total(weight))


reference = reduce_reference(lambda x, y: (x - y) ** 2)

CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 3), ("batch", 3)), {"reduction": "sum"}, reference=reference, name="sum"),
    Case((("batch", 3), ("batch", 3)), {"reduction": "none"}, reference=reference, name="none"),
)

OPERATOR = Composite("mse_loss", declaration=mse_loss, cases=CASES)
