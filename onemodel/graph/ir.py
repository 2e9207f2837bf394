"""The one in-memory graph: values, nodes, subgraphs, initializers, symbolic dims.

It is what the tracer writes, what the importer reads, what passes change, what
a session runs and what a view draws. It knows ONNX's vocabulary but no
protobuf; those live in ``onnx_io``. It knows nothing of tensors or tracing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.errors import CallSite

Dim: TypeAlias = "int | Extent | None"
"""A size: known, symbolic, or unknown."""

Shape: TypeAlias = "tuple[Dim, ...] | None"
"""None where even the rank is unknown."""


@dataclass(frozen=True)
class Origin:
    """Where a node came from.

    ``site`` is the user's call, ``scope`` the module path (``encoder.layers.0``),
    ``operator`` the eager operator that was lowered (``softmax``), ``record`` its
    number in the trace.
    """

    site: CallSite | None = None
    scope: str = ""
    operator: str = ""
    record: int | None = None


@dataclass(eq=False, slots=True)
class Value:
    """One edge of the graph: a name, and what is known of its dtype and shape.

    Compared by identity. ``producer`` is None for inputs and initializers.
    ``type_text`` holds the ONNX type for anything but a tensor ("" for tensors).
    """

    name: str
    dtype: np.dtype | None = None
    shape: Shape = None
    producer: Node | None = None
    type_text: str = ""

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)

    def __repr__(self) -> str:
        return f"%{self.name}: {self.dtype}{format_shape(self.shape)}"


@dataclass(eq=False, slots=True)
class Node:
    """One operation: an ONNX node type with its inputs (None where omitted) and outputs.

    An output that the node leaves out has the empty name.
    """

    op_type: str
    inputs: list[Value | None]
    outputs: list[Value]
    attributes: dict[str, Attribute] = field(default_factory=dict)
    domain: str = ""
    name: str = ""
    origin: Origin | None = None
    metadata: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        outs = ", ".join(v.name for v in self.outputs)
        ins = ", ".join("" if v is None else v.name for v in self.inputs)
        return f"{outs} = {self.op_type}({ins})"

    def subgraphs(self) -> Iterator[Graph]:
        """Bodies held in attributes (If, Loop, Scan), in attribute order."""
        for attribute in self.attributes.values():
            if isinstance(attribute, Graph):
                yield attribute
            elif isinstance(attribute, list):
                for item in attribute:
                    if isinstance(item, Graph):
                        yield item


@dataclass(eq=False)
class Graph:
    """Nodes in topological order, with named inputs, outputs and constants.

    ``initializers`` maps a value to its array; the same Value objects appear as
    node inputs. ``opsets`` maps a domain ("" for ai.onnx) to its version.
    """

    name: str = "graph"
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    initializers: dict[Value, np.ndarray] = field(default_factory=dict)
    opsets: dict[str, int] = field(default_factory=dict)
    ir_version: int = 9
    metadata: dict[str, str] = field(default_factory=dict)
    functions: dict[tuple[str, str], Graph] = field(default_factory=dict)
    doc: str = ""

    @property
    def opset(self) -> int:
        """Version of the standard domain."""
        return self.opsets.get("", 0)

    def values(self) -> Iterator[Value]:
        """Every value once: inputs, initializers, then node outputs in order."""
        seen: set[int] = set()
        for value in (*self.inputs, *self.initializers, *self._node_outputs()):
            if id(value) not in seen:
                seen.add(id(value))
                yield value

    def _node_outputs(self) -> Iterator[Value]:
        for node in self.nodes:
            yield from (value for value in node.outputs if value.name)

    def value(self, name: str) -> Value:
        """The value of that name. Raises KeyError naming it."""
        for value in self.values():
            if value.name == name:
                return value
        raise KeyError(f"graph {self.name!r} has no value named {name!r}")

    def consumers(self) -> Mapping[Value, list[Node]]:
        """Value -> nodes that read it, subgraph captures included, in node order."""
        table: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys([*node.inputs, *_captured(node)]):
                if value is not None:
                    table.setdefault(value, []).append(node)
        return table


Attribute: TypeAlias = (
    int
    | float
    | str
    | bytes
    | np.ndarray
    | Graph
    | list[int]
    | list[float]
    | list[str]
    | list[bytes]
    | list[np.ndarray]
    | list[Graph]
)
"""What an attribute of a node may hold: ONNX's attribute types as Python values."""


def _captured(node: Node) -> Iterator[Value]:
    """Values of an outer graph read inside the bodies of ``node``."""
    for body in node.subgraphs():
        own = set(body.values())
        for inner in body.nodes:
            for value in (*inner.inputs, *_captured(inner)):
                if value is not None and value not in own:
                    yield value
        for value in body.outputs:
            if value not in own:
                yield value


def format_shape(shape: Shape) -> str:
    """``[batch, 3]``; ``?`` for an unknown size, ``[...]`` for an unknown rank."""
    if shape is None:
        return "[...]"
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"
