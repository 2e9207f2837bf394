"""``x - tanh(x)``."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import floating
from onemodel.operators.sub import sub
from onemodel.operators.tanh import tanh
from onemodel.tensors.tensor import Tensor


def tanhshrink(input: Tensor) -> Tensor:
    """``x - tanh(x)``; integers are taken as the default dtype.

    Shape as the input's, a floating dtype. Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.tanhshrink``.
    """
    value = floating("tanhshrink", "input", input)
    return sub(value, tanh(value))


CASES = (Case((("batch", 3),), reference=lambda x: x - np.sinh(x) / np.cosh(x)),)

OPERATOR = Composite("tanhshrink", declaration=tanhshrink, methods=("tanhshrink",), cases=CASES)
