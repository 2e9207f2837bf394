"""Element-wise fractional part."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.sub import sub
from onemodel.operators.trunc import trunc
from onemodel.tensors.tensor import Tensor


def frac(input: Tensor) -> Tensor:
    """What lies after the point, with the sign of the element: ``input - trunc(input)``.

    Shape and dtype are the input's. Raises TypeError for anything but a tensor or number.
    Source: ``torch.frac``.
    """
    return sub(input, trunc(input))


CASES = (Case((("batch", 3),), reference=lambda x: np.modf(x)[0], lowest=9),)

OPERATOR = Composite("frac", declaration=frac, methods=("frac",), inplace=("frac_",), cases=CASES)
