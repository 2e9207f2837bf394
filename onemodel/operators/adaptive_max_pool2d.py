"""Maximum over a fixed number of windows along two axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators import _adaptive
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator
from onemodel.tensors.tensor import Tensor


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Maximum of windows that divide each spatial axis into ``output_size`` parts.

    Shapes: [N, C, H, W] (or [C, H, W]) -> the same with ``output_size``; None keeps an axis.
    Window i covers ``floor(i*n/m)`` to ``ceil((i + 1)*n/m)``, so that windows may overlap.
    With ``return_indices`` also where each maximum lies in its plane (int64).
    Raises ValueError for another number of sizes or an empty axis.
    Source: ``torch.nn.functional.adaptive_max_pool2d``; ONNX MaxPool-1, or the
    maximum of slices where the parts are uneven (symbolic axes from opset 11).
    """
    return _adaptive.adapt(OPERATOR, 2, input, output_size, return_indices=bool(return_indices))


reference = _adaptive.reference(2, np.max)


def _indices(input: np.ndarray) -> np.ndarray:
    """Where the maximum of every 2 x 2 block of a [N, C, 6, 4] lies."""
    blocks = input.reshape(*input.shape[:2], 3, 2, 2, 2).swapaxes(3, 4)
    inner = blocks.reshape(*blocks.shape[:4], 4).argmax(axis=-1)
    top, left = np.arange(3)[:, None] * 2, np.arange(2) * 2
    return (top + inner // 2) * 4 + left + inner % 2


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
    Case((("batch", 2, 6, 4),), {"output_size": (3, 2), "return_indices": True}, lowest=8,
         reference=lambda x, **a: (reference(x, **a), _indices(x)), name="indices"),
)  # fmt: skip

OPERATOR = Operator(
    "adaptive_max_pool2d",
    declaration=adaptive_max_pool2d,
    forward=_adaptive.max_forward,
    backward=_adaptive.max_backward,
    axes=_adaptive.axes,
    symbolic={7: _adaptive.max_opset_7},
    reads="",
    saves=True,
    size_attributes=("output_size",),
    cases=CASES,
)
