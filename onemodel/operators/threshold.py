"""Another value for elements at or below a threshold."""

from __future__ import annotations

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.le import le
from onemodel.operators.to import to
from onemodel.operators.where import where
from onemodel.tensors.tensor import Tensor


def threshold(input: Tensor, threshold: float, value: float) -> Tensor:
    """Each element above ``threshold``, else ``value``. NaN stays NaN.

    Shape and dtype are the input's. Raises TypeError for anything but a tensor or number.
    Source: ``torch.nn.functional.threshold``.
    """
    tensor = as_tensor("threshold", "input", input)
    return to(where(le(tensor, threshold), value, tensor), tensor.dtype)


def reference(input: np.ndarray, threshold: float, value: float) -> np.ndarray:
    return np.where(np.asarray(input) > threshold, input, value)


CASES = (Case((("batch", 3),), {"threshold": 0.1, "value": -3.0}, reference=reference, lowest=9),)

OPERATOR = Composite(
    "threshold",
    declaration=threshold,
    methods=("threshold",),
    inplace=("threshold_",),
    cases=CASES,
)
