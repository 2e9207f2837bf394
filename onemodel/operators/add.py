"""Element-wise sum, ``input + alpha * other``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import add as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor

PLAIN = {"alpha": 1}


def add(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Sum of two tensors (or a tensor and a number) with broadcasting: ``input + alpha*other``.

    Shapes: any two that broadcast. Dtype: where the operands meet by promotion.
    Raises TypeError for operands that are no tensors or numbers, ValueError for shapes that
    do not broadcast. Source: ``torch.add``; ONNX Add-7.
    """
    if alpha == 1:
        plain = apply_alike(OPERATOR, input, other, PLAIN)
        if plain is not None:
            return plain
    (input, other), _ = operands("add", input, other)
    return apply(OPERATOR, (input, other), {"alpha": alpha})


def forward(input: np.ndarray, other: np.ndarray, *, alpha: Any = 1) -> np.ndarray:
    if alpha != 1:
        other = other * np.asarray(alpha, other.dtype)
    return kernel.fast(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    alpha = record.attributes["alpha"]
    scaled = grad if alpha == 1 else grad * np.asarray(alpha, grad.dtype)
    return unbroadcast(grad, record.shapes[0]), unbroadcast(scaled, record.shapes[1])


def opset_7(g: Any, input: Any, other: Any, alpha: Any = 1) -> Any:
    if alpha != 1:
        other = arithmetic(g, "Mul", other, g.like(alpha, other))
    if input.dtype == np.bool_:
        return g.op("Or", input, other)
    return arithmetic(g, "Add", input, other)


def reference(input: np.ndarray, other: np.ndarray, alpha: float = 1) -> np.ndarray:
    return np.asarray(input) + alpha * np.asarray(other)


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 1, 4), (3, 1)), reference=reference, name="broadcast"),
    Case((("batch", 3), (3,)), {"alpha": -1.5}, reference=reference, name="alpha"),
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", -9, 9)),
        reference=reference,
        name="integers",
    ),
    Case(((), ("batch",)), reference=reference, name="0-d"),
)

OPERATOR = Operator(
    "add",
    declaration=add,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("add", "__add__"),
    reflected=("__radd__",),
    inplace=("add_", "__iadd__"),
    reads="",
    ufunc="add",
    cases=CASES,
)
