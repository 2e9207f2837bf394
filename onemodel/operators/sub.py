"""Element-wise difference, ``input - alpha * other``."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import sub as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor

PLAIN = {"alpha": 1}


def sub(input: Any, other: Any, *, alpha: Any = 1) -> Tensor:
    """Difference of two tensors (or a tensor and a number): ``input - alpha * other``.

    Shapes: any two that broadcast. Dtype: where the operands meet by promotion; unsigned
    integers wrap around. Raises TypeError for bool operands. Source: ``torch.sub``; ONNX Sub-7.
    """
    if alpha == 1:
        plain = apply_alike(OPERATOR, input, other, PLAIN)
        if plain is not None:
            return plain
    (input, other), dtype = operands("sub", input, other)
    if dtype.kind == "b":
        raise TypeError("sub: bool has no difference; write x ^ y or x & ~y")
    return apply(OPERATOR, (input, other), {"alpha": alpha})


def forward(input: np.ndarray, other: np.ndarray, *, alpha: Any = 1) -> np.ndarray:
    if alpha != 1:
        other = other * np.asarray(alpha, other.dtype)
    return kernel.fast(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    alpha = record.attributes["alpha"]
    scaled = -grad if alpha == 1 else grad * np.asarray(-alpha, grad.dtype)
    return unbroadcast(grad, record.shapes[0]), unbroadcast(scaled, record.shapes[1])


def opset_7(g: Any, input: Any, other: Any, alpha: Any = 1) -> Any:
    if alpha != 1:
        other = arithmetic(g, "Mul", other, g.like(alpha, other))
    return arithmetic(g, "Sub", input, other)


def reference(input: np.ndarray, other: np.ndarray, alpha: float = 1) -> np.ndarray:
    return np.asarray(input) + np.negative(alpha * np.asarray(other))


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 1, 4), (3, 1)), reference=reference, name="broadcast"),
    Case((("batch", 3), (3,)), {"alpha": 2.5}, reference=reference, name="alpha"),
    Case((("batch", 3),), call=lambda x: 1 - x, reference=lambda x: -x + 1, name="reflected"),
    Case(
        (In(("batch", 3), "int8", -9, 9), In((3,), "int8", -9, 9)),
        reference=reference,
        name="int8",
    ),
)

OPERATOR = Operator(
    "sub",
    declaration=sub,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("sub", "subtract", "__sub__"),
    reflected=("__rsub__",),
    inplace=("sub_", "__isub__"),
    reads="",
    ufunc="subtract",
    cases=CASES,
)
