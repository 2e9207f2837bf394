"""Maximum over a fixed number of windows along three axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators import _adaptive
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maximum of windows that divide each spatial axis into ``output_size`` parts.

    Shapes: [N, C, D, H, W] (or [C, D, H, W]) -> the same with ``output_size``; None keeps an axis.
    Window i covers ``floor(i*n/m)`` to ``ceil((i + 1)*n/m)``, so that windows may overlap.
    With ``return_indices`` also where each maximum lies in its plane (int64).
    Raises ValueError for another number of sizes or an empty axis.
    Source: ``torch.nn.functional.adaptive_max_pool3d``; ONNX MaxPool-1, or the
    maximum of slices where the parts are uneven (symbolic axes from opset 11).
    """
    return _adaptive.adapt(OPERATOR, 3, input, output_size, return_indices=bool(return_indices))


reference = _adaptive.reference(3, np.max)

CASES = (
    Case((("batch", 2, 4, 6, 2),), {"output_size": (2, 3, 1)}, reference=reference),
    Case((("batch", 1, 3, 5, 4),), {"output_size": 2}, reference=reference, name="uneven parts"),
    Case((("batch", 1, "depth", 3, 4),), {"output_size": (2, 1, 4)}, reference=reference,
         lowest=11, name="symbolic axis"),
)  # fmt: skip

OPERATOR = Operator(
    "adaptive_max_pool3d",
    declaration=adaptive_max_pool3d,
    forward=_adaptive.max_forward,
    backward=_adaptive.max_backward,
    axes=_adaptive.axes,
    symbolic={7: _adaptive.max_opset_7},
    reads="",
    saves=True,
    size_attributes=("output_size",),
    cases=CASES,
)
