"""Tensors of one shape joined along a new axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import normalize_dim, operands
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def stack(tensors: Sequence[Any], dim: int = 0) -> Tensor:
    """Tensors of one shape along a new axis at position ``dim`` of the result.

    Dtype: where the tensors meet by promotion. Raises ValueError for no tensors and for shapes
    that differ. Source: ``torch.stack``; ONNX Unsqueeze-1 and Concat-4.
    """
    if isinstance(tensors, Tensor) or not isinstance(tensors, Sequence):
        raise TypeError(f"stack: tensors must be a list or tuple, not {type(tensors).__name__}")
    if not tensors:
        raise ValueError("stack: there is no tensor to join")
    found, _ = operands("stack", *tensors)
    return apply(OPERATOR, found, {"dim": normalize_dim("stack", dim, found[0].ndim + 1)})


def forward(*tensors: np.ndarray, dim: int) -> np.ndarray:
    return np.stack(tensors, axis=dim)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.moveaxis(grad, record.attributes["dim"], 0))


def axes(*tensors: Axes, dim: int) -> Axes:
    return rules.stack(tensors, dim)


def opset_7(g: Any, tensors: Any, dim: int) -> Any:
    parts = [helpers.unsqueeze(g, tensor, [dim]) for tensor in tensors]
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=dim)


def _call(*tensors: Any, dim: int = 0) -> Tensor:
    return stack(tensors, dim)


def reference(*tensors: np.ndarray, dim: int = 0) -> np.ndarray:
    return np.stack(tensors, axis=dim)


CASES = (
    Case((("batch", 3), ("batch", 3)), call=_call, reference=reference),
    Case((("batch", 3),) * 3, {"dim": -1}, call=_call, reference=reference, name="at the end"),
    Case(((), ()), call=_call, reference=reference, name="0-d"),
    Case((("batch",),), {"dim": 1}, call=_call, reference=reference, name="one tensor"),
)

OPERATOR = Operator(
    "stack",
    declaration=stack,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="",
    cases=CASES,
)
