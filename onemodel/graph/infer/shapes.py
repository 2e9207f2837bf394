"""Symbolic shape inference: the sizes of every value that follow from those of the inputs.

Chains that compute with sizes (``Shape`` → ``Gather`` → ``Concat`` → ``Reshape``) are evaluated
in the same algebra, so that an imported file shows its axes like a traced one. What does not
follow stays unknown. What does holds for every run that the model itself allows; as in a trace,
a table cut to a symbolic length counts as long enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from onemodel.axes.extent import AxesError, Extent
from onemodel.graph.infer import layers, moving
from onemodel.graph.infer.contents import content_of
from onemodel.graph.infer.control import CONTROL
from onemodel.graph.infer.view import CONTENTS, SHAPES, Content, Dims, UnknownError, View
from onemodel.graph.ir import Dim, Graph, Node, Shape, Value

RULES = (layers, moving)
"""The modules whose import enters the rules of shapes."""

TOO_LARGE = 2**63
"""No axis is that long; a broken file may say so."""

# A broken node (an axis out of range, a missing attribute) is refused elsewhere, by name.
CANNOT_TELL = (
    UnknownError, AxesError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Coverage:
    """How much is known: values, values of known rank, values of which every size is known."""

    values: int
    ranked: int
    complete: int


@dataclass
class _Facts:
    opsets: Mapping[str, int]
    shapes: dict[Value, Dims] = field(default_factory=dict)
    contents: dict[Value, Content] = field(default_factory=dict)
    arrays: dict[Value, np.ndarray] = field(default_factory=dict)


def infer_shapes(graph: Graph) -> Coverage:
    """Fill ``shape`` of the values of ``graph`` and its bodies, as far as it follows.

    A size that a file declares is kept where nothing follows, and where it is an expression in
    the symbols of the inputs already. A declared number that contradicts what follows from the
    inputs was the exporter's example and is replaced.
    """
    facts = _Facts(graph.opsets)
    symbols = frozenset(
        name
        for value in graph.inputs
        for size in value.shape or ()
        if isinstance(size, Extent)
        for name in size.symbols()
    )
    _follow(graph, facts, symbols, set(graph.inputs))
    values = [value for value in facts.shapes if not value.type_text]
    ranked = [value for value in values if value.shape is not None]
    complete = [value for value in ranked if None not in (value.shape or ())]
    return Coverage(len(values), len(ranked), len(complete))


def _follow(graph: Graph, facts: _Facts, symbols: frozenset[str], fed: set[Value]) -> None:
    for value in graph.inputs:
        facts.shapes[value] = _dims(value.shape)
    for value, array in graph.initializers.items():
        if value in fed:  # a default that a caller may feed over
            facts.shapes[value] = _dims(value.shape)
            continue
        _constant(value, array, facts)
    for node in graph.nodes:
        _node(node, facts, symbols)


def _constant(value: Value, array: np.ndarray, facts: _Facts) -> None:
    facts.shapes[value] = tuple(Extent(size) for size in array.shape)
    facts.contents[value] = content_of(array)
    facts.arrays[value] = array


def _node(node: Node, facts: _Facts, symbols: frozenset[str]) -> None:
    key = (node.domain, node.op_type)
    opset = facts.opsets.get(node.domain, 1)
    view = View(node, opset, facts.shapes, facts.contents, facts.arrays)
    found: list[Dims] = []
    try:
        if key in CONTROL:
            found = CONTROL[key](
                node, facts.shapes, lambda body: _follow(body, facts, symbols, set())
            )
        elif key == ("", "Constant"):
            array = _constant_array(node)
            if array is not None:
                _constant(node.outputs[0], array, facts)
                found = [facts.shapes[node.outputs[0]]]
        elif key in SHAPES:
            found = SHAPES[key](view)
    except CANNOT_TELL:
        found = []
    for place, value in enumerate(node.outputs):
        if not value.name:
            continue
        dims = found[place] if place < len(found) else None
        if not value.type_text:
            value.shape = _merged(value.shape, dims, symbols)
        facts.shapes[value] = _dims(value.shape)
    if key in CONTENTS and node.outputs and node.outputs[0].name:
        try:
            facts.contents[node.outputs[0]] = _whole(CONTENTS[key](view))
        except CANNOT_TELL:
            return


def _whole(content: Content) -> Content:
    """NumPy hands the element of an array of rank 0 out; back into its array."""
    if content is None or isinstance(content, np.ndarray):
        return content
    result = np.empty((), object)
    result[()] = content
    return result


def _constant_array(node: Node) -> np.ndarray | None:
    for name, content in node.attributes.items():
        if name == "value" and isinstance(content, np.ndarray):
            return content
        if name in ("value_int", "value_ints"):
            return np.asarray(content, np.int64)
        if name in ("value_float", "value_floats"):
            return np.asarray(content, np.float32)
    return None


def _dims(shape: Shape) -> Dims:
    if shape is None:
        return None
    return tuple(Extent(size) if isinstance(size, int) else size for size in shape)


def _merged(declared: Shape, found: Dims, symbols: frozenset[str]) -> Shape:
    if found is None:
        return declared
    if declared is None or len(declared) != len(found):
        return tuple(_plain(size) for size in found)
    return tuple(
        _merged_dim(one, _plain(other), symbols) for one, other in zip(declared, found, strict=True)
    )


def _merged_dim(declared: Dim, found: Dim, symbols: frozenset[str]) -> Dim:
    if found is None:
        return declared
    if isinstance(declared, Extent) and isinstance(found, Extent):
        return declared if declared.symbols() <= symbols else found
    return found


def _plain(size: Extent | None) -> Dim:
    if size is None or not size.is_static:
        return size
    return size.value if 0 <= size.value < TOO_LARGE else None
