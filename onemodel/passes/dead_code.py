"""Removes nodes whose outputs nobody reads, and constants that are no longer used.

Bit rule: exact. No value that remains is computed differently.
"""

from __future__ import annotations

from onemodel.graph.ir import Graph, Value
from onemodel.passes.result import Notes, PassResult
from onemodel.passes.rewire import graphs, label, readers


def run(graph: Graph) -> PassResult:
    """Remove what no output depends on; inputs stay, as callers feed them by name."""
    notes = Notes()
    counts = readers(graph)
    for part in reversed(list(graphs(graph))):
        _sweep(part, counts, notes)
    for part in graphs(graph):
        fed = set(part.inputs)
        for value in [v for v in part.initializers if not counts.get(v) and v not in fed]:
            notes.add(f"constant {value.name!r} is not used")
            del part.initializers[value]
    return notes.result()


def _sweep(graph: Graph, counts: dict[Value, int], notes: Notes) -> None:
    kept = []
    for node in reversed(graph.nodes):
        if any(counts.get(value) for value in node.outputs):
            kept.append(node)
            continue
        notes.add(f"{label(node)} is not used")
        _release(node.inputs, counts)
        for body in node.subgraphs():
            for part in graphs(body):
                _release(part.outputs, counts)
                for inner in part.nodes:
                    _release(inner.inputs, counts)
    graph.nodes[:] = reversed(kept)


def _release(values: list, counts: dict[Value, int]) -> None:
    for value in values:
        if value is not None:
            counts[value] -= 1
