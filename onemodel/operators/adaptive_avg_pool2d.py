"""Mean over a fixed number of windows along two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators import _adaptive
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Mean of windows that divide each spatial axis into ``output_size`` parts.

    Shapes: [N, C, H, W] (or [C, H, W]) -> the same with ``output_size``; None keeps an axis.
    Window i covers ``floor(i*n/m)`` to ``ceil((i + 1)*n/m)``, so that windows may overlap.
    Raises ValueError for another number of sizes or an empty axis.
    Source: ``torch.nn.functional.adaptive_avg_pool2d``; ONNX AveragePool-7, or a product with a
    matrix where the parts are uneven (symbolic axes from opset 11).
    """
    return _adaptive.adapt(OPERATOR, 2, input, output_size)


reference = _adaptive.reference(2, np.mean)

CASES = (
    Case((("batch", 2, "height", "width"),), {"output_size": 1}, reference=reference),
    Case((("batch", 2, 6, 4),), {"output_size": (3, 2)}, reference=reference, name="even parts"),
    Case((("batch", 2, 7, 5),), {"output_size": (3, 2)}, reference=reference,
         name="uneven parts"),
    Case((("batch", 2, "height", 4),), {"output_size": (None, 2)}, reference=reference,
         name="an axis kept"),
    Case((("batch", 2, "height", "width"),), {"output_size": (3, 4)}, reference=reference,
         lowest=11, name="symbolic axes"),
    Case((("batch", 2, "height", 5),), {"output_size": (1, 2)}, reference=reference,
         name="one output along a symbolic axis"),
    Case(((2, 5, 4),), {"output_size": 2}, reference=reference, name="no batch"),
)  # fmt: skip

OPERATOR = Operator(
    "adaptive_avg_pool2d",
    declaration=adaptive_avg_pool2d,
    forward=_adaptive.mean_forward,
    backward=_adaptive.mean_backward,
    axes=_adaptive.axes,
    symbolic={7: _adaptive.mean_opset_7},
    reads="",
    size_attributes=("output_size",),
    cases=CASES,
)
