"""Maximum over a fixed number of windows along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators import _adaptive
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maximum of windows that divide each spatial axis into ``output_size`` parts.

    Shapes: [N, C, L] (or [C, L]) -> the same with ``output_size``; None keeps an axis.
    Window i covers ``floor(i*n/m)`` to ``ceil((i + 1)*n/m)``, so that windows may overlap.
    With ``return_indices`` also where each maximum lies in its plane (int64).
    Raises ValueError for another number of sizes or an empty axis.
    Source: ``torch.nn.functional.adaptive_max_pool1d``; ONNX MaxPool-1, or the
    maximum of slices where the parts are uneven (symbolic axes from opset 11).
    """
    return _adaptive.adapt(OPERATOR, 1, input, output_size, return_indices=bool(return_indices))


reference = _adaptive.reference(1, np.max)

CASES = (
    Case((("batch", 3, 6),), {"output_size": 3}, reference=reference),
    Case((("batch", 3, "time"),), {"output_size": 4}, reference=reference, lowest=11,
         name="symbolic axis"),
    Case(((3, 7),), {"output_size": 3}, reference=reference, name="no batch, uneven"),
)  # fmt: skip

OPERATOR = Operator(
    "adaptive_max_pool1d",
    declaration=adaptive_max_pool1d,
    forward=_adaptive.max_forward,
    backward=_adaptive.max_backward,
    axes=_adaptive.axes,
    symbolic={7: _adaptive.max_opset_7},
    reads="",
    saves=True,
    size_attributes=("output_size",),
    cases=CASES,
)
