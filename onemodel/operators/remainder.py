"""Element-wise remainder with the sign of the divisor."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import mod as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, equal, floor_quotient
from onemodel.operators._operator import Operator, apply, apply_alike
from onemodel.operators._promote import operands, unbroadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.tensors.dtypes import category
from onemodel.tensors.tensor import Tensor


def remainder(input: Any, other: Any) -> Tensor:
    """``input - other * floor(input / other)``, as Python's ``%``.

    Shapes: any two that broadcast. Raises ZeroDivisionError for integers and a divisor of 0,
    TypeError for bool and complex. Source: ``torch.remainder``; ONNX Mod-10.
    """
    plain = apply_alike(OPERATOR, input, other)
    if plain is not None:
        return plain
    pair, dtype = operands("remainder", input, other)
    if category(dtype) in (0, 3):
        raise TypeError(f"remainder: there is none of {dtype} numbers")
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    if input.dtype.kind in "iu" and not other.all():
        raise ZeroDivisionError("remainder: an integer divided by zero")
    return kernel.fast(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    left, right = record.arrays
    return (
        unbroadcast(grad, left.shape),
        unbroadcast(-grad * np.floor_divide(left, right), right.shape),
    )


def opset_7(g: Any, input: Any, other: Any) -> Any:
    if input.dtype.kind in "iu":
        if g.opset >= 10:
            return g.op("Mod", input, other)
        quotient = floor_quotient(g, input, other)
        return arithmetic(g, "Sub", input, arithmetic(g, "Mul", quotient, other))
    g.refuse_below(10, "the remainder of floats (Mod)")
    zero = g.like(0, input)
    rest = g.op("Mod", input, other, fmod=1)
    crossed = g.op("Xor", g.op("Less", other, zero), g.op("Less", rest, zero))
    crossed = g.op("And", crossed, g.op("Not", equal(g, rest, zero)))
    return g.op("Where", crossed, g.op("Add", rest, other), rest)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    wide = np.asarray(input, np.float64)
    return wide - other * np.floor(wide / other)


def _nonzero(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.integers(2, 5, shape) * generator.choice([-1, 1], shape)


CASES = (
    Case((In(("batch", 3), low=-9, high=9), In((3,), low=0.5)), reference=reference, lowest=10),
    Case(
        (In(("batch", 3), low=-9, high=9), In(("batch", 1), values=_nonzero)),
        reference=reference,
        lowest=10,
        name="of any sign",
    ),
    Case(
        (In(("batch", 3), "int64", -9, 9), In((3,), "int64", values=_nonzero)),
        reference=reference,
        lowest=9,
        name="integers",
    ),
    Case(
        (In(("batch", 3), "int32", -9, 9),),
        call=lambda x: x % 4,
        reference=lambda x: x & 3,
        name="number",
    ),
)

OPERATOR = Operator(
    "remainder",
    declaration=remainder,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={7: opset_7},
    methods=("remainder", "__mod__"),
    reflected=("__rmod__",),
    inplace=("remainder_", "__imod__"),
    reads="i",
    ufunc="remainder",
    cases=CASES,
)
