"""Element-wise quotient, rounded on request."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import div as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, conjugate, floor_quotient
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operand, operands, register_conversion, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.dtypes import category, get_default_dtype
from onemodel.tensors.tensor import Tensor

PLAIN = {"rounding_mode": None}


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """Quotient of two tensors (or a tensor and a number) with broadcasting.

    ``rounding_mode``: None divides exactly (integers become the default floating dtype),
    "trunc" rounds toward zero and "floor" downward, both keeping integers integers.
    Raises ValueError for another mode, ZeroDivisionError for an integer divided by 0.
    Source: ``torch.div``; ONNX Div-7.
    """
    if rounding_mode not in (None, "trunc", "floor"):
        raise ValueError(
            f"div: rounding_mode must be None, 'trunc' or 'floor', not {rounding_mode!r}"
        )
    if rounding_mode is None:
        plain = apply_alike(OPERATOR, input, other, PLAIN)
        if plain is not None:
            return plain
    pair, dtype = operands("div", input, other)
    if rounding_mode is not None and dtype.kind == "b":
        raise TypeError("div: bool cannot be divided with rounding; convert it with .long()")
    if rounding_mode is None and category(dtype) < 2:
        # Each by itself: 1000 is no uint8, and need not be one on its way to a float.
        pair = [operand(value, get_default_dtype()) for value in (input, other)]
    return apply(OPERATOR, pair, {"rounding_mode": rounding_mode})


def forward(
    input: np.ndarray, other: np.ndarray, *, rounding_mode: str | None = None
) -> np.ndarray:
    if rounding_mode is None:
        return kernel.fast(input, other)
    if input.dtype.kind in "iu":
        if not other.all():
            raise ZeroDivisionError("div: an integer divided by zero")
        return kernel.fast(input, other) if rounding_mode == "trunc" else input // other
    if rounding_mode == "trunc":
        return np.trunc(kernel.fast(input, other))
    return np.floor_divide(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    if record.attributes["rounding_mode"] is not None:
        flat = [np.zeros_like(a) if a.dtype.kind not in "iub" else None for a in (left, right)]
        return flat[0], flat[1]
    scaled = grad / conjugate(right)
    return (
        unbroadcast(scaled, left.shape) if record.needs[0] else None,
        unbroadcast(-scaled * conjugate(left / right), right.shape) if record.needs[1] else None,
    )


def opset_7(g: Any, input: Any, other: Any, rounding_mode: str | None = None) -> Any:
    if rounding_mode == "floor":
        return floor_quotient(g, input, other)
    result = arithmetic(g, "Div", input, other)
    if rounding_mode is None or input.dtype.kind in "iu":
        return result
    # Toward zero: the floor of the size with the sign put back (a NaN stays one).
    size = g.op("Floor", g.op("Abs", result))
    g.refuse_below(9, "div with rounding_mode='trunc' (Sign)")
    return g.op("Mul", size, g.op("Sign", result))


def reference(input: np.ndarray, other: np.ndarray, rounding_mode: str | None = None) -> np.ndarray:
    exact = np.asarray(input, np.float64) / np.asarray(other, np.float64)
    return {None: exact, "trunc": np.trunc(exact), "floor": np.floor(exact)}[rounding_mode]


def _nonzero(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(1, 5, shape) * generator.choice([-1, 1], shape)


register_conversion("div", div)

CASES = (
    Case((("batch", 3), In(("batch", 3), low=0.5)), reference=reference),
    Case((("batch", 1, 4), In((3, 1), low=0.5)), reference=reference, name="broadcast"),
    Case((("batch", 3),), call=lambda x: x / 4, reference=lambda x: x * 0.25, name="number"),
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", values=_nonzero)),
        reference=reference,
        name="integers",
    ),
    Case(
        (In(("batch", 3), low=-9, high=9), In((3,), low=0.5)),
        {"rounding_mode": "trunc"},
        reference=reference,
        gradient=False,
        lowest=9,
        name="trunc",
    ),
    Case(
        (In(("batch", 3), low=-9, high=9), In((3,), low=0.5)),
        {"rounding_mode": "floor"},
        reference=reference,
        gradient=False,
        lowest=10,
        name="floor",
    ),
    Case(
        (In(("batch", 3), "int32", -9, 9), In((3,), "int32", values=_nonzero)),
        {"rounding_mode": "trunc"},
        reference=reference,
        name="trunc of integers",
    ),
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", values=_nonzero)),
        {"rounding_mode": "floor"},
        reference=reference,
        lowest=9,
        name="floor of integers",
    ),
)

OPERATOR = Operator(
    "div",
    declaration=div,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("div", "divide", "true_divide", "__truediv__"),
    reflected=("__rtruediv__",),
    inplace=("div_", "__itruediv__"),
    reads="i",
    ufunc="divide",
    cases=CASES,
)
