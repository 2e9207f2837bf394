"""What element-wise operators share: axis rules, and the commonest symbolic functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    """A symbolic function that writes one node with one operand."""

    def write(g: Any, input: Any) -> Any:
        return g.op(op_type, input)

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
