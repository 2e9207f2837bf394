"""Angle of a point, from its two coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import broadcast_axes, equal
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import operand, operands, unbroadcast
from onemodel.symbolic.helpers import clip
from onemodel.tensors.dtypes import category, get_default_dtype
from onemodel.tensors.tensor import Tensor


def atan2(input: Any, other: Any) -> Tensor:
    """The angle in (-pi, pi] of the point with y = ``input`` and x = ``other``.

    Shapes: any two that broadcast; integers are taken as the default dtype. Raises TypeError
    for complex. Source: ``torch.atan2``; ONNX Atan-7.
    """
    pair, dtype = operands("atan2", input, other)
    if category(dtype) == 3:
        raise TypeError("atan2: real numbers only")
    if category(dtype) < 2:
        pair = [operand(value, get_default_dtype()) for value in (input, other)]
    return apply(OPERATOR, pair)


def forward(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.arctan2(input, other)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, Any]:
    y, x = record.arrays
    squared = np.square(x) + np.square(y)
    # At the origin no direction is the right one; 0 there, as in PyTorch.
    scaled = np.where(squared == 0, 0, grad / np.where(squared == 0, 1, squared))
    return unbroadcast(scaled * x, y.shape), unbroadcast(-scaled * y, x.shape)


def opset_9(g: Any, input: Any, other: Any) -> Any:
    # ONNX has no atan2: the angle of the quotient, turned by half a circle left of the y axis.
    largest = float(np.finfo(np.float16 if input.dtype.itemsize == 2 else input.dtype).max)
    y, x = (clip(g, value, -largest, largest) for value in (input, other))  # inf / inf is NaN
    zero, half = g.like(0, y), g.like(np.pi / 2, y)
    turn = g.op("Where", _negative(g, y), g.like(-np.pi, y), g.like(np.pi, y))
    angle = g.op("Atan", g.op("Div", y, x))
    angle = g.op("Where", g.op("Less", x, zero), g.op("Add", angle, turn), angle)
    origin = g.op("Where", _negative(g, x), turn, y)
    upright = g.op("Where", equal(g, y, zero), origin, g.op("Mul", g.op("Sign", y), half))
    return g.op("Where", equal(g, x, zero), upright, angle)


def _negative(g: Any, value: Any) -> Any:
    """Where a value is negative; the reciprocal of -0 is."""
    zero = g.like(0, value)
    below_zero = g.op("Less", g.op("Reciprocal", value), zero)
    return g.op("Or", g.op("Less", value, zero), below_zero)


def reference(input: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.angle(np.asarray(other, np.float64) + 1j * np.asarray(input, np.float64))


def _axis(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([-1.0, 0.0, 2.0], shape)


CASES = (
    Case((("batch", 3), ("batch", 3)), reference=reference, lowest=9),
    Case((("batch", 1, 4), (3, 1)), reference=reference, lowest=9, name="broadcast"),
    Case(
        (In(("batch", 5), values=_axis), In(("batch", 5), values=_axis)),
        reference=reference,
        gradient=False,
        lowest=9,
        name="on the axes",
    ),
)

OPERATOR = Operator(
    "atan2",
    declaration=atan2,
    forward=forward,
    backward=backward,
    axes=broadcast_axes,
    symbolic={9: opset_9},
    methods=("atan2", "arctan2"),
    inplace=("atan2_",),
    reads="i",
    ufunc="arctan2",
    cases=CASES,
)
