"""Rectified linear unit that stops at 6."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case, In
from onemodel.operators._operator import Composite
from onemodel.operators.clamp import clamp
from onemodel.tensors.tensor import Tensor


def relu6(input: Tensor) -> Tensor:
    """Each element held between 0 and 6.

    Shape and dtype are the input's. Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.relu6``; ONNX Clip-6.
    """
    return clamp(input, 0, 6)


CASES = (
    Case((In(("batch", 3), low=-9, high=12),), reference=lambda x: np.minimum(np.maximum(x, 0), 6)),
)

OPERATOR = Composite(
    "relu6", declaration=relu6, methods=("relu6",), inplace=("relu6_",), cases=CASES
)
