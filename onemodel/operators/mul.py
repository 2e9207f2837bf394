"""Element-wise product."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import mul as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, conjugate
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.tensor import Tensor


def mul(input: Any, other: Any) -> Tensor:
    """Product of two tensors (or a tensor and a number) with broadcasting.

    Shapes: any two that broadcast. Dtype: where the operands meet by promotion; the product of
    bools is their "and". Raises TypeError for operands that are no tensors or numbers.
    Source: ``torch.mul``; ONNX Mul-7.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    (input, other), _ = operands("mul", input, other)
    return apply(OPERATOR, (input, other))


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return kernel.fast(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    return (
        unbroadcast(grad * conjugate(right), left.shape) if record.needs[0] else None,
        unbroadcast(grad * conjugate(left), right.shape) if record.needs[1] else None,
    )


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if input.dtype == np.bool_:
        return g.op("And", input, other)
    return arithmetic(g, "Mul", input, other)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64) * np.asarray(other, np.float64)
    return wide if input.dtype.kind == "f" else wide.astype(input.dtype)


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference),
    Case((("batch", 1, 4), (3, 1)), reference=reference, name="broadcast"),
    Case((("batch", 3),), call=lambda x: 2.5 * x, reference=lambda x: x + 1.5 * x, name="number"),
    Case(
        (In(("batch", 3), "int16", -9, 9), In((3,), "int16", -9, 9)),
        reference=reference,
        name="int16",
    ),
    Case(
        (In(("batch", 3), "bool"), In((3,), "bool")),
        reference=np.logical_and,
        name="bool",
    ),
)

OPERATOR = Operator(
    "mul",
    declaration=mul,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("mul", "multiply", "__mul__"),
    reflected=("__rmul__",),
    inplace=("mul_", "__imul__"),
    reads="i",
    ufunc="multiply",
    cases=CASES,
)
