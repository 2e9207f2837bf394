"""Element-wise choice between two."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import where as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor, operands, unbroadcast
from onemodel.symbolic.helpers import where as where_node
from onemodel.tensors.tensor import Tensor


def where(condition: Tensor, input: Any, other: Any) -> Tensor:
    """``input`` where ``condition`` holds, else ``other``; all three broadcast.

    ``condition`` is bool; ``input`` and ``other`` are tensors or numbers that meet by promotion.
    Raises TypeError for a condition of another dtype. Source: ``torch.where``; ONNX Where-9.
    """
    condition = as_tensor("where", "condition", condition)
    if condition._array.dtype != np.bool_:
        raise TypeError(
            f"where: condition must be bool, not {condition.dtype}; write where(x != 0, ...)"
        )
    (input, other), _ = operands("where", input, other)
    return apply(OPERATOR, (condition, input, other))


def forward(condition: np.ndarray, input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(condition, input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any, Any]:
    condition, zero = record.arrays[0], np.zeros((), grad.dtype)
    return (
        None,
        unbroadcast(np.where(condition, grad, zero), record.shapes[1]),
        unbroadcast(np.where(condition, zero, grad), record.shapes[2]),
    )


def opset_7(g: Any, condition: Any, input: Any, other: Any) -> Any:
    if input.dtype == np.bool_:  # by logic, which every opset and runtime has
        chosen = g.op("And", condition, input)
        return g.op("Or", chosen, g.op("And", g.op("Not", condition), other))
    return where_node(g, condition, input, other)


def _method(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """``x.where(condition, other)``: this tensor where the condition holds."""
    return where(condition, input, other)


def reference(condition: np.ndarray, input: np.ndarray, other: np.ndarray) -> np.ndarray:
    chosen = np.asarray(condition, np.float64)
    return chosen * np.asarray(input) + (1 - chosen) * np.asarray(other)


CASES = (
    Case((In(("batch", 3), "bool"), ("batch", 3), ("batch", 3)), reference=reference, lowest=9),
    Case(
        (In((3, 1), "bool"), ("batch", 1, 4), (4,)), reference=reference, lowest=9, name="broadcast"
    ),
    Case(
        (In(("batch", 3), "bool"), ("batch", 3)),
        call=lambda condition, x: where(condition, x, -1.5),
        reference=lambda condition, x: reference(condition, x, np.array(-1.5)),
        lowest=9,
        name="number",
    ),
    Case(
        (In((3, 1), "bool"), In(("batch", 1, 4), "bool"), In((4,), "bool")),
        reference=lambda condition, x, y: np.where(condition, x, y),
        name="bool",
    ),
)

OPERATOR = Operator(
    "where",
    declaration=where,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)

ALSO = (Composite("where_method", declaration=_method, methods=("where",), public=False),)
