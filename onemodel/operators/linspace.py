"""Numbers at equal distances between two ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.size import Size
from onemodel.operators._case import Case
from onemodel.operators._creation import factory_dtype, finish
from onemodel.operators._operator import Composite
from onemodel.operators.add import add
from onemodel.operators.arange import arange
from onemodel.operators.clamp import clamp
from onemodel.operators.div import div
from onemodel.operators.mul import mul
from onemodel.operators.scalar_tensor import scalar_tensor
from onemodel.operators.sub import sub
from onemodel.tensors.tensor import Tensor


def linspace(
    start: float, end: float, steps: Any, *, dtype: Any = None, requires_grad: bool = False
) -> Tensor:
    """``steps`` numbers from ``start`` to ``end``, both included.

    Shape [steps]; a size of a traced tensor stays symbolic. The default floating dtype unless
    given. Raises ValueError for a negative number of steps. Source: ``torch.linspace``.
    """
    wanted = factory_dtype(dtype)
    if isinstance(steps, Size):
        whole = arange(steps, dtype=wanted)
        step = div(end - start, clamp(sub(scalar_tensor(steps, wanted), 1), 1))
        return finish(add(mul(whole, step), start), requires_grad)
    if steps < 0:
        raise ValueError(f"linspace: steps must be 0 or more, not {steps}")
    return finish(Tensor(np.linspace(start, end, steps).astype(wanted)), requires_grad)


CASES = (
    Case(
        (("batch", 5),),
        call=lambda x: x + linspace(-1, 1, 5),
        reference=lambda x: x + np.array([-1, -0.5, 0, 0.5, 1]),
        name="a constant",
    ),
    Case(
        (("batch", 3),),
        call=lambda x: x + linspace(0, 2, x.shape[0]).reshape(-1, 1),
        reference=lambda x: x + np.linspace(0, 2, len(x))[:, None],
        lowest=9,
    ),
)

OPERATOR = Composite("linspace", declaration=linspace, cases=CASES)
