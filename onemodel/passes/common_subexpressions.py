"""Computes equal nodes once and keeps equal constants once.

Bit rule: exact. Nodes are equal where type, attributes and inputs are; constants where
dtype, shape and every byte are, so that 0.0 and -0.0, or two different NaNs, stay apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable

import numpy as np

from onemodel.graph.bind import is_deterministic
from onemodel.graph.ir import Attribute, Graph, Node, Value
from onemodel.passes.result import Notes, PassResult
from onemodel.passes.rewire import label, overridable, replace

MOST_BYTES = 1 << 16
"""Larger constants are not compared; a model seldom holds them twice."""


def run(graph: Graph) -> PassResult:
    """Merge equal constants, then equal nodes, of the graph and of each body by itself."""
    notes = Notes()
    _merge(graph, graph, notes)
    return notes.result()


def _merge(part: Graph, graph: Graph, notes: Notes) -> None:
    replace(graph, _equal_constants(part, notes))
    seen: dict[Hashable, Node] = {}
    table: dict[Value, Value] = {}
    kept = []
    for node in part.nodes:
        node.inputs = [None if v is None else table.get(v, v) for v in node.inputs]
        key = None if _stays(node, graph) else _key(node)
        first = seen.setdefault(key, node) if key is not None else node
        if first is node:
            kept.append(node)
            continue
        table.update(zip(node.outputs, first.outputs, strict=True))
        notes.add(f"{label(node)} equals {label(first)}")
    part.nodes[:] = kept
    replace(graph, table)
    for node in part.nodes:
        for body in node.subgraphs():
            _merge(body, graph, notes)


def _stays(node: Node, graph: Graph) -> bool:
    """Nodes with bodies, random ones, and those that name an output of the graph."""
    return (
        any(True for _ in node.subgraphs())
        or not is_deterministic(node, graph.opsets)
        or any(value in graph.outputs for value in node.outputs)
    )


def _key(node: Node) -> Hashable:
    attributes = tuple(
        (name, _attribute_key(node.attributes[name])) for name in sorted(node.attributes)
    )
    named = tuple(bool(value.name) for value in node.outputs)
    return node.domain, node.op_type, attributes, tuple(node.inputs), named


def _attribute_key(attribute: Attribute) -> Hashable:
    if isinstance(attribute, np.ndarray):
        return _array_key(attribute)
    if isinstance(attribute, list):
        return tuple(_attribute_key(item) for item in attribute)
    if isinstance(attribute, float):
        return "float", attribute.hex()  # 0.0 == -0.0, but not here
    return type(attribute).__name__, attribute  # type: ignore[return-value]


def _array_key(array: np.ndarray) -> Hashable:
    if array.dtype == object:
        return "string", array.shape, tuple(array.ravel().tolist())
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).digest()
    return array.dtype.name, array.shape, digest


def _equal_constants(part: Graph, notes: Notes) -> dict[Value, Value]:
    stay = overridable(part) | set(part.outputs)
    seen: dict[Hashable, Value] = {}
    table: dict[Value, Value] = {}
    for value, array in part.initializers.items():
        if value in stay or array.nbytes > MOST_BYTES:
            continue
        first = seen.setdefault(_array_key(array), value)
        if first is not value:
            table[value] = first
            notes.add(f"constant {value.name!r} equals {first.name!r}")
    for value in table:
        del part.initializers[value]
    return table
