"""Element-wise nodes on small arrays, written by a NumPy ufunc into a buffer that stays.

Making a small result costs more than computing it, and broadcasting a constant costs more
than both. Where the shapes of a run are known, a node whose kernel is one ufunc is called as
that ufunc, with the buffer as ``out`` and with constants of the full shape. The bits are the
kernel's: the operations listed are exact by IEEE 754, and those that are not are only taken
where input and result have the memory layout that the kernel would have met.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from onemodel.graph.bind import Mode
from onemodel.graph.ir import Node, Value
from onemodel.graph.schema import NEWEST_OPSET
from onemodel.kernels._table import find

MAX_BYTES = 1 << 16
"""Largest buffer; above it the work outweighs the call."""

Fact = tuple[tuple[int, ...], np.dtype]
"""Shape and dtype of a value in the runs of one plan."""


_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
_NUMBERS = _FLOATS | {np.dtype(np.int32), np.dtype(np.int64)}
_BOOL = frozenset({np.dtype(np.bool_)})

EXACT: Mapping[str, tuple[np.ufunc, frozenset[np.dtype]]] = {
    "Add": (np.add, _NUMBERS),
    "Sub": (np.subtract, _NUMBERS),
    "Mul": (np.multiply, _NUMBERS),
    "Div": (np.true_divide, _FLOATS),
    "Neg": (np.negative, _NUMBERS),
    "Abs": (np.absolute, _NUMBERS),
    "Sqrt": (np.sqrt, _FLOATS),
    "Relu": (np.maximum, _NUMBERS),
    "Max": (np.maximum, _NUMBERS),
    "Min": (np.minimum, _NUMBERS),
    "Floor": (np.floor, _FLOATS),
    "Ceil": (np.ceil, _FLOATS),
    "Reciprocal": (np.reciprocal, _FLOATS),
    "Greater": (np.greater, _NUMBERS),
    "Less": (np.less, _NUMBERS),
    "And": (np.logical_and, _BOOL),
    "Or": (np.logical_or, _BOOL),
    "Not": (np.logical_not, _BOOL),
}
"""Node types whose kernel is one ufunc with one right answer, and the dtypes that hold for."""

_SIGN_OF_ZERO = frozenset({"Relu", "Max", "Min"})
"""Of +0 and -0 these take one or the other, as the processor likes; exact kernels decide."""

BY_LAYOUT: Mapping[str, tuple[np.ufunc, frozenset[np.dtype]]] = {
    "Exp": (np.exp, _FLOATS),
    "Log": (np.log, _FLOATS),
    "Tanh": (np.tanh, _FLOATS),
    "Sin": (np.sin, _FLOATS),
    "Cos": (np.cos, _FLOATS),
}
"""Node types whose kernel is one ufunc whose last bit may depend on the memory layout."""


@dataclass(frozen=True)
class SmallStep:
    """How to call a small node: ``ufunc(*operands, out=buffer)``.

    ``operands`` are values, or arrays that take the place of constants. ``fact`` describes
    the buffer.
    """

    ufunc: np.ufunc
    operands: tuple[Value | np.ndarray, ...]
    fact: Fact


def small_step(
    node: Node,
    opset: int,
    facts: Mapping[Value, Fact],
    constants: Mapping[Value, Any],
    buffered: set[Value],
    mode: Mode = "fast",
) -> SmallStep | None:
    """The small step of ``node``, or None where its kernel has to be called.

    Args:
        node: any node.
        opset: version of the standard domain.
        facts: shapes and dtypes of computed values and inputs, from a run.
        constants: values that never change.
        buffered: values that lie in buffers, hence in C order.
        mode: whose bits are asked for.
    """
    if node.domain or len(node.outputs) != 1 or node.outputs[0] not in facts:
        return None
    shape, dtype = facts[node.outputs[0]]
    rule = EXACT.get(node.op_type)
    if mode == "exact" and (rule is None or node.op_type in _SIGN_OF_ZERO):
        return None
    if rule is None:
        rule = BY_LAYOUT.get(node.op_type)
        if rule is None or not all(value in buffered for value in node.inputs):
            return None
    ufunc, dtypes = rule
    if not shape or nbytes((shape, dtype)) > MAX_BYTES:
        return None
    if find(node.op_type, opset) is not find(node.op_type, NEWEST_OPSET):
        return None  # an old version with rules of its own
    operands = _operands(node, shape, dtypes, facts, constants)
    return None if operands is None else SmallStep(ufunc, operands, (shape, dtype))


def _operands(
    node: Node,
    shape: tuple[int, ...],
    dtypes: frozenset[np.dtype],
    facts: Mapping[Value, Fact],
    constants: Mapping[Value, Any],
) -> tuple[Value | np.ndarray, ...] | None:
    if len(node.inputs) != _ARITY.get(node.op_type, 1):
        return None
    found: list[Value | np.ndarray] = []
    for value in node.inputs:
        array = None if value is None else constants.get(value)
        if value is None or (array is None and value not in facts):
            return None
        have, dtype = facts[value] if array is None else (array.shape, array.dtype)
        if dtype not in dtypes:
            return None
        if array is not None and have != shape:
            found.append(np.array(np.broadcast_to(array, shape)))
        else:
            found.append(value)
    if node.op_type == "Relu":
        found.append(np.zeros(shape, facts[node.outputs[0]][1]))
    return tuple(found)


_ARITY: Mapping[str, int] = dict.fromkeys(
    ("Add", "Sub", "Mul", "Div", "Max", "Min", "Greater", "Less", "And", "Or"), 2
)


MAX_COPIED = 1 << 14
"""Largest input or output that is copied to or from a buffer so that its node can be small."""


def nbytes(fact: Fact) -> int:
    """Bytes of an array of that shape and dtype."""
    return math.prod(fact[0]) * fact[1].itemsize


# A buffer by position costs half of one by keyword, but these two are about to refuse it.
_BY_KEYWORD = (np.maximum, np.minimum)


def prepared(ufunc: np.ufunc, operands: Sequence[np.ndarray], out: np.ndarray) -> Callable[[], Any]:
    """The call of ``ufunc`` on these arrays, without arguments."""
    if ufunc in _BY_KEYWORD:
        return partial(ufunc, *operands, out=out)
    return partial(ufunc, *operands, out)


def into_buffer(ufunc: np.ufunc) -> Callable[..., Any]:
    """``ufunc`` as a function whose last argument is the buffer."""
    if ufunc not in _BY_KEYWORD:
        return ufunc

    def call(*arguments: Any) -> Any:
        return ufunc(*arguments[:-1], out=arguments[-1])

    return call
