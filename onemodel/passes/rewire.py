"""Changing who reads a value, captures inside bodies included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onemodel.graph.ir import Graph, Node, Value


def graphs(graph: Graph) -> Iterator[Graph]:
    """``graph`` and every body below it, outer graphs first."""
    yield graph
    for node in graph.nodes:
        for body in node.subgraphs():
            yield from graphs(body)


def replace(graph: Graph, table: Mapping[Value, Value]) -> None:
    """Let every reader of a key of ``table`` read its value instead.

    Chains are followed. Outputs of ``graph`` itself keep their values, as their names are
    part of what the model promises; outputs of bodies are positions and are rewired.
    """
    if not table:
        return

    def final(value: Value) -> Value:
        while value in table:
            value = table[value]
        return value

    for part in graphs(graph):
        for node in part.nodes:
            node.inputs = [None if value is None else final(value) for value in node.inputs]
        if part is not graph:
            part.outputs = [final(value) for value in part.outputs]


def readers(graph: Graph) -> dict[Value, int]:
    """How often each value is read by nodes, bodies included, or is an output anywhere."""
    counts: dict[Value, int] = {}
    for part in graphs(graph):
        for value in part.outputs:
            counts[value] = counts.get(value, 0) + 1
        for node in part.nodes:
            for value in node.inputs:
                if value is not None:
                    counts[value] = counts.get(value, 0) + 1
    return counts


def overridable(graph: Graph) -> set[Value]:
    """Initializers that are inputs too: defaults that a caller may feed over."""
    return set(graph.inputs) & set(graph.initializers)


def label(node: Node) -> str:
    """``Reshape 'view_3'``: how notes call a node."""
    name = node.name or (node.outputs[0].name if node.outputs else "")
    return f"{node.op_type} {name!r}"
