"""Piecewise linear hyperbolic tangent."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators.clamp import clamp
from onemodel.tensors.tensor import Tensor


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0) -> Tensor:
    """Each element held between ``min_val`` and ``max_val``.

    Shape and dtype are the input's. Raises ValueError where the limits cross.
    Source: ``torch.nn.functional.hardtanh``; ONNX Clip-6.
    """
    if min_val > max_val:
        raise ValueError(f"hardtanh: min_val {min_val} lies above max_val {max_val}")
    return clamp(input, min_val, max_val)


def reference(input: np.ndarray, min_val: float = -1.0, max_val: float = 1.0) -> np.ndarray:
    return np.maximum(np.minimum(np.asarray(input, np.float64), max_val), min_val)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3),), {"min_val": -0.5, "max_val": 1.5}, reference=reference, name="limits"),
)

OPERATOR = Composite(
    "hardtanh",
    declaration=hardtanh,
    methods=("hardtanh",),
    inplace=("hardtanh_",),
    cases=CASES,
)
