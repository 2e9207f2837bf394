"""What element-wise operators share: axis rules, and the commonest symbolic functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onemodel.axes.extent import Axes
from onemodel.axes.rules import broadcast
from onemodel.symbolic.helpers import arithmetic
from onemodel.symbolic.helpers import comparison as comparison_node


def same_axes(input: Axes, **attributes: Any) -> Axes:
    """A result as large as the one input."""
    return input


def broadcast_axes(*inputs: Axes, **attributes: Any) -> Axes:
    """A result of the broadcast shape of all inputs."""
    return broadcast(*inputs)


def unary(op_type: str) -> Callable[..., Any]:
    """A symbolic function that writes one node with one operand, in a wider dtype if needed."""

    def write(g: Any, input: Any) -> Any:
        return arithmetic(g, op_type, input)

    write.__name__ = write.__qualname__ = f"write_{op_type}"
    return write


def binary(op_type: str) -> Callable[..., Any]:
    """A symbolic function that writes one node with two operands.

    Where the target opset does not know the dtype (int8 below 14, integers below 12 for Pow),
    it computes in a wider one and converts back: the numbers are eager's.
    """

    def write(g: Any, input: Any, other: Any) -> Any:
        return arithmetic(g, op_type, input, other)

    write.__name__ = write.__qualname__ = f"write_{op_type}"
    return write


def comparison(op_type: str) -> Callable[..., Any]:
    """A symbolic function for a comparison; the result is bool at every opset."""

    def write(g: Any, input: Any, other: Any) -> Any:
        return comparison_node(g, op_type, input, other)

    write.__name__ = write.__qualname__ = f"write_{op_type}"
    return write


def equal(g: Any, left: Any, right: Any) -> Any:
    """``left == right`` at every opset: Equal takes floats from 11 on only.

    Below, two numbers are equal that are neither less nor greater, and none of them NaN.
    """
    dtype = left.dtype
    if dtype is None or g.accepts("Equal", dtype) or dtype.kind != "f":
        return comparison_node(g, "Equal", left, right)
    apart = g.op("Or", g.op("Less", left, right), g.op("Greater", left, right))
    ordered = g.op("And", not_nan(g, left), not_nan(g, right))
    return g.op("And", g.op("Not", apart), ordered)


def not_nan(g: Any, value: Any) -> Any:
    """Where a float is a number. IsNaN came at 9; comparisons with the infinities always were."""
    if g.accepts("IsNaN", value.dtype):
        return g.op("Not", g.op("IsNaN", value))
    below = g.op("Less", value, g.like(np.inf, value))
    return g.op("Or", below, g.op("Greater", value, g.like(-np.inf, value)))


def less_equal(g: Any, left: Any, right: Any) -> Any:
    """``left <= right``: LessOrEqual came at 12; below, less or equal by two nodes."""
    if g.opset >= 12:
        return comparison_node(g, "LessOrEqual", left, right)
    return g.op("Or", comparison_node(g, "Less", left, right), equal(g, left, right))


def greater_equal(g: Any, left: Any, right: Any) -> Any:
    """``left >= right``, likewise."""
    return less_equal(g, right, left)


def power_of_two(g: Any, input: Any, places: Any) -> Any:
    """``2 ** places`` of integers in the dtype of ``input``, folded where the places are known."""
    known = g.array(places)
    if known is not None:
        return g.constant(np.left_shift(np.ones_like(known), known))
    g.refuse_below(12, "shifting by computed places (Pow of integers)")
    return arithmetic(g, "Pow", g.like(2, input), places)


def floor_quotient(g: Any, left: Any, right: Any) -> Any:
    """``left // right`` with Python's rounding, for integers and floats, of any sign.

    Floats follow Python's own algorithm (a remainder first), so that 1.0 // 0.1 is 9 here, too.
    """
    if left.dtype.kind == "u":
        return arithmetic(g, "Div", left, right)
    if left.dtype.kind == "i":
        return _integer_floor_quotient(g, left, right)
    g.refuse_below(10, "floor division of floats (Mod)")
    zero = g.like(0, left)
    remainder = g.op("Mod", left, right, fmod=1)
    quotient = g.op("Div", g.op("Sub", left, remainder), right)
    crossed = g.op("Xor", g.op("Less", right, zero), g.op("Less", remainder, zero))
    inexact = g.op("Not", equal(g, remainder, zero))
    crossed = g.cast(g.op("And", inexact, crossed), left.dtype)
    quotient = g.op("Sub", quotient, crossed)
    floor = g.op("Floor", quotient)
    lost = g.op("Greater", g.op("Sub", quotient, floor), g.like(0.5, left))
    floor = g.op("Add", floor, g.cast(lost, left.dtype))
    known = g.array(right)
    if known is not None and known.all():
        return floor
    return g.op("Where", equal(g, right, zero), g.op("Div", left, right), floor)


def _integer_floor_quotient(g: Any, left: Any, right: Any) -> Any:
    quotient = arithmetic(g, "Div", left, right)
    remainder = arithmetic(g, "Sub", left, arithmetic(g, "Mul", quotient, right))
    zero = g.like(0, left)
    negative = comparison_node(g, "Less", right, zero)
    crossed = g.op("Xor", negative, comparison_node(g, "Less", remainder, zero))
    inexact = g.op("Not", equal(g, remainder, zero))
    one_less = g.cast(g.op("And", inexact, crossed), left.dtype)
    return arithmetic(g, "Sub", quotient, one_less)


def conjugate(array: np.ndarray) -> np.ndarray:
    """The conjugate of a derivative, which gradients of complex numbers are multiplied by."""
    return np.conj(array) if array.dtype.kind == "c" else array
