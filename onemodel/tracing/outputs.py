"""The shape of a finished graph: outputs named, the rest pruned, the user's calls on nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onemodel.graph.ir import Graph, Node, Origin, Value
from onemodel.tracing import sites
from onemodel.tracing.value import TracedValue, TraceRecord


def bind_outputs(graph: Graph, outputs: Sequence[tuple[str, Value]], names: set[str]) -> None:
    """Give outputs the names asked for; an Identity where one is an input, constant or repeated."""
    taken: set[Value] = set(graph.inputs) | set(graph.initializers)
    for name, _ in outputs:
        _free(graph, name, names)
    for name, value in outputs:
        if value in taken:
            copy = Value(name, value.dtype, value.shape)
            node = Node("Identity", [value], [copy], name=_unique(f"Identity_{name}", names))
            node.origin = value.producer.origin if value.producer else Origin(operator="output")
            copy.producer = node
            graph.nodes.append(node)
            value = copy
        else:
            value.name = name
        names.add(name)
        taken.add(value)
        graph.outputs.append(value)


def _free(graph: Graph, name: str, names: set[str]) -> None:
    """Rename whatever inner value or node stands in the way of an output's name."""
    if name not in names:
        return
    for node in graph.nodes:
        for value in node.outputs:
            if value.name == name:
                value.name = _unique(name, names)
        if node.name == name:
            node.name = _unique(name, names)
    for value in graph.initializers:
        if value.name == name:
            value.name = _unique(name, names)


def _unique(wanted: str, names: set[str]) -> str:
    count, name = 0, wanted
    while name in names:
        count += 1
        name = f"{wanted}_{count}"
    names.add(name)
    return name


def prune(graph: Graph) -> None:
    """Keep only nodes and constants that an output needs."""
    needed: set[int] = {id(v) for v in graph.outputs}
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if not needed.isdisjoint([id(v) for v in node.outputs]):
            kept.append(node)
            needed.update([id(v) for v in node.inputs if v is not None])
    kept.reverse()
    graph.nodes[:] = kept
    for value in [v for v in graph.initializers if id(v) not in needed]:
        del graph.initializers[value]


def kept_records(graph: Graph, records: Sequence[TraceRecord]) -> list[TraceRecord]:
    """Records of which a node or a result is left, and those that made their operands.

    Another opset may need an operand that this one could do without, and two records may
    share one value: a size that is written once.
    """
    alive = {node.origin.record for node in graph.nodes if node.origin is not None}
    values = {id(value) for value in graph.values()}
    kept: list[TraceRecord] = []
    for record in reversed(records):
        left = values.intersection([id(value.graph_value) for value in record.outputs])
        if not left and record.number not in alive:
            continue
        kept.append(record)
        for operand in record.inputs:
            if isinstance(operand, TracedValue) and operand.record is not None:
                alive.add(operand.record.number)
    kept.reverse()
    return kept


def set_origins(graph: Graph, records: Sequence[TraceRecord]) -> None:
    """Put the user's call, with its text, on every node."""
    resolved: dict[int, Origin] = {}
    by_number = {record.number: record for record in records}
    by_site: dict[Any, Any] = {}
    for node in graph.nodes:
        origin = node.origin
        if origin is None or origin.record is None or origin.site is not None:
            continue
        known = resolved.get(origin.record)
        if known is None:
            site = by_number[origin.record].site
            if site not in by_site:
                by_site[site] = sites.resolve(site)
            known = Origin(by_site[site], origin.scope, origin.operator, origin.record)
            resolved[origin.record] = known
        node.origin = known
