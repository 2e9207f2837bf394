"""The rules every graph keeps: single assignment, topological order, defined inputs."""

from __future__ import annotations

from collections.abc import Callable

from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Graph, Node, Value


def check(graph: Graph) -> None:
    """Raise :class:`GraphError` at the first rule that ``graph`` breaks.

    Rules, for the graph and every subgraph: a value has a name; a name is
    written once, also across enclosing graphs; a node reads only inputs,
    initializers, outputs of earlier nodes or values of enclosing graphs; a
    value's ``producer`` is the node that lists it as an output; outputs are
    defined; node names, where given, are unique; an initializer has the dtype
    and rank its value declares.
    """
    _check(graph, frozenset(), {})


def describe(node: Node, index: int | None = None) -> str:
    """``node 3 'conv1' (Conv)``: how messages call a node."""
    number = "node" if index is None else f"node {index}"
    name = f" {node.name!r}" if node.name else ""
    operator = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return f"{number}{name} ({operator})"


def _check(graph: Graph, outer: frozenset[Value], outer_names: dict[str, str]) -> None:
    names = dict(outer_names)
    defined: set[Value] = set(outer)

    def define(value: Value, what: str) -> None:
        if value in defined:
            return
        if value.name in names:
            raise GraphError(
                f"graph {graph.name!r}: value {value.name!r} is written twice, as {what} and as "
                f"{names[value.name]}; give one of them another name",
                graph=graph.name,
                value=value.name,
            )
        names[value.name] = what
        defined.add(value)

    _check_ends(graph, define)
    node_names: set[str] = set()
    for index, node in enumerate(graph.nodes):
        where = describe(node, index)
        if node.name and node.name in node_names:
            raise GraphError(
                f"graph {graph.name!r}: two nodes are named {node.name!r}; rename one",
                graph=graph.name,
                node=where,
            )
        node_names.add(node.name)
        _check_node(graph, node, where, defined)
        for body in node.subgraphs():
            _check(body, frozenset(defined), names)
        for value in node.outputs:
            if not value.name:
                continue
            if value in defined:
                raise GraphError(
                    f"graph {graph.name!r}: {where} writes {value.name!r}, which already has a "
                    "value; every value is written once",
                    graph=graph.name,
                    node=where,
                    value=value.name,
                )
            define(value, f"an output of {where}")
    for value in graph.outputs:
        if value not in defined:
            raise GraphError(
                f"graph {graph.name!r}: output {value.name!r} is not computed by any node",
                graph=graph.name,
                value=value.name,
            )


def _check_ends(graph: Graph, define: Callable[[Value, str], None]) -> None:
    if len(set(graph.inputs)) != len(graph.inputs):
        raise GraphError(f"graph {graph.name!r}: an input is listed twice", graph=graph.name)
    for value in (*graph.inputs, *graph.initializers):
        if not value.name:
            raise GraphError(
                f"graph {graph.name!r}: an input or initializer has no name", graph=graph.name
            )
        if value.producer is not None:
            raise GraphError(
                f"graph {graph.name!r}: {value.name!r} is an input or initializer but has a "
                "producer node",
                graph=graph.name,
                value=value.name,
            )
    for value in graph.inputs:
        define(value, "an input")
    for value, array in graph.initializers.items():
        define(value, "an initializer")
        if value.dtype is not None and value.dtype != array.dtype and array.dtype.kind not in "US":
            raise GraphError(
                f"graph {graph.name!r}: initializer {value.name!r} holds {array.dtype}, its value "
                f"says {value.dtype}",
                graph=graph.name,
                value=value.name,
            )
        if value.shape is not None and len(value.shape) != array.ndim:
            raise GraphError(
                f"graph {graph.name!r}: initializer {value.name!r} has rank {array.ndim}, its "
                f"value says {len(value.shape)}",
                graph=graph.name,
                value=value.name,
            )


def _check_node(graph: Graph, node: Node, where: str, defined: set[Value]) -> None:
    for value in node.inputs:
        if value is not None and value not in defined:
            late = value.producer is not None and value.producer in graph.nodes
            why = "is computed by a later node" if late else "is not defined in this graph"
            raise GraphError(
                f"graph {graph.name!r}: {where} reads {value.name!r}, which {why}",
                graph=graph.name,
                node=where,
                value=value.name,
            )
    for value in node.outputs:
        if value.producer is not node:
            raise GraphError(
                f"graph {graph.name!r}: output {value.name!r} of {where} names another producer",
                graph=graph.name,
                node=where,
                value=value.name,
            )
