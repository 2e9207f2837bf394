"""A new axis of size 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply_view
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor

_WHOLE = (slice(None),) * 8


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """The tensor with a new axis of size 1 at position ``dim`` of the result; a view.

    Raises IndexError for a position out of range. Source: ``torch.unsqueeze``; ONNX Unsqueeze-1.
    """
    input = as_tensor("unsqueeze", "input", input)
    return apply_view(OPERATOR, input, {"dim": normalize_dim("unsqueeze", dim, input.ndim + 1)})


def forward(input: np.ndarray, *, dim: int) -> np.ndarray:
    return input[(*_WHOLE[:dim], None)] if dim < len(_WHOLE) else np.expand_dims(input, dim)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    return grad.reshape(record.shapes[0])


def axes(input: Axes, *, dim: int) -> Axes:
    return rules.unsqueeze(input, dim)


def opset_7(g: Any, input: Any, dim: int) -> Any:
    return helpers.unsqueeze(g, input, [dim])


def reference(input: np.ndarray, dim: int) -> np.ndarray:
    return np.expand_dims(input, dim)


CASES = (
    Case((("batch", 3),), {"dim": 1}, reference=reference),
    Case((("batch", 3),), {"dim": -1}, reference=reference, name="at the end"),
    Case(((),), {"dim": 0}, reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "unsqueeze",
    declaration=unsqueeze,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("unsqueeze",),
    reads="",
    view=True,
    cases=CASES,
)
