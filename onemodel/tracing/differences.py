"""In what two recordings of one model differ, and whether two results agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onemodel.errors import CallSite
from onemodel.graph.ir import Graph, Node, Value


@dataclass(frozen=True)
class Difference:
    """The first thing in which two recordings of one model differ."""

    what: str
    node: Node | None
    number: str = ""

    @property
    def site(self) -> CallSite | None:
        origin = self.node.origin if self.node is not None else None
        return origin.site if origin is not None else None


def compare_graphs(first: Graph, other: Graph) -> Difference | None:
    """The first node, constant or axis in which two recordings differ, or None."""
    for one, two in zip(first.nodes, other.nodes, strict=False):
        found = _compare_nodes(one, two, first, other)
        if found is not None:
            return found
    if len(first.nodes) != len(other.nodes):
        longer = first if len(first.nodes) > len(other.nodes) else other
        node = longer.nodes[min(len(first.nodes), len(other.nodes))]
        return Difference(f"{len(first.nodes)} nodes against {len(other.nodes)}", node)
    for one, two in zip(first.outputs, other.outputs, strict=False):
        if one.name != two.name or _constant(first, one) != _constant(other, two):
            return Difference(f"output {one.name!r}", one.producer)
    return None


def _compare_nodes(one: Node, two: Node, first: Graph, other: Graph) -> Difference | None:
    if one.op_type != two.op_type or one.domain != two.domain:
        return Difference(f"a node {one.op_type} against {two.op_type}", one)
    if len(one.inputs) != len(two.inputs):
        return Difference(f"{one.op_type} with {len(one.inputs)} against {len(two.inputs)}", one)
    for a, b in zip(one.inputs, two.inputs, strict=True):
        if a is None or b is None:
            if a is not b:
                return Difference(f"{one.op_type} with and without an operand", one)
            continue
        left, right = first.initializers.get(a), other.initializers.get(b)
        if left is not None and right is not None:
            if not _equal(left, right):
                numbers = _numbers(left, right)
                return Difference(f"constant {a.name!r} of {one.op_type}{numbers}", one, numbers)
        elif a.name != b.name:
            return Difference(f"{one.op_type} reads {a.name!r} against {b.name!r}", one)
    if not _equal_attributes(one.attributes, two.attributes):
        return Difference(f"attributes of {one.op_type}", one)
    for a, b in zip(one.outputs, two.outputs, strict=False):
        if str(a.shape) != str(b.shape):
            return Difference(f"{a.name!r} has axes {_axes(a)} against {_axes(b)}", one)
    return None


def _axes(value: Value) -> str:
    shape = value.shape or ()
    return "[" + ", ".join(str(d) for d in shape) + "]"


def _constant(graph: Graph, value: Value) -> bytes | None:
    array = graph.initializers.get(value)
    return None if array is None else array.tobytes()


def _equal(left: np.ndarray, right: np.ndarray) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    return _one_memory(left, right) or left.tobytes() == right.tobytes()


def _one_memory(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether both are the same elements: two traces of a model share its large weights."""
    if left.strides != right.strides:
        return False
    return left.__array_interface__["data"][0] == right.__array_interface__["data"][0]


def _numbers(left: np.ndarray, right: np.ndarray) -> str:
    """The baked sizes, where the constants are sizes; shapes otherwise. Never data."""
    if left.shape != right.shape:
        return f" (shape {list(left.shape)} against {list(right.shape)})"
    if left.dtype == np.int64 == right.dtype and left.size <= 8:
        return f" ({left.ravel().tolist()} against {right.ravel().tolist()})"
    return f" (shape {list(left.shape)}, other contents)"


def _equal_attributes(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    if left.keys() != right.keys():
        return False
    for name, one in left.items():
        two = right[name]
        if isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
            if not _equal(one, two):
                return False
        elif one != two:
            return False
    return True


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float = 1e-4) -> bool:
    """Equal within ``tolerance`` of the largest magnitude; NaN and infinities in place."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if wanted.dtype.kind not in "fcV":
        return bool(np.array_equal(got, wanted))
    if wanted.dtype.itemsize == 2:
        tolerance = 2e-2
    a = got.astype(np.complex128 if wanted.dtype.kind == "c" else np.float64)
    b = wanted.astype(a.dtype)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    scale = max(1.0, float(np.abs(b[finite]).max(initial=0.0)))
    return bool(np.all(np.abs(a[finite] - b[finite]) <= tolerance * scale))
