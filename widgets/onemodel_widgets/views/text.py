"""Views as plain text, for terminals, logs and ``text/plain``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from onemodel.graph.ir import Node
from onemodel_widgets.views import places
from onemodel_widgets.views.describe import operator_title, type_text
from onemodel_widgets.views.names import clean, shorten
from onemodel_widgets.views.scene import Outline

MAX_ROWS = 60


def columns(rows: Sequence[Sequence[str]], indent: str = "  ") -> list[str]:
    """Rows of cells as lines with aligned columns."""
    if not rows:
        return []
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [
        (
            indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def capped(rows: Iterable[Sequence[str]], limit: int = MAX_ROWS) -> tuple[list[Sequence[str]], int]:
    """At most ``limit`` rows, and how many were left out."""
    everything = list(rows)
    return everything[:limit], max(0, len(everything) - limit)


def graph_text(outlined: Outline, facts: Sequence[str] = ()) -> str:
    """Inputs, nodes with their source lines, outputs."""
    graph = outlined.graph
    heading = [f"graph {shorten(graph.name, 60)}", f"{len(outlined.keys)} nodes"]
    if graph.opset:
        heading.append(f"opset {graph.opset}")
    lines = [", ".join([*heading, *(clean(fact) for fact in facts)])]
    for value in graph.inputs[:MAX_ROWS]:
        if value not in graph.initializers:
            lines.append(f"  input  {shorten(value.name, 40)}: {type_text(value)}")
    nodes = outlined.folded[graph].nodes
    lines.extend(columns([_node_row(node, outlined) for node in nodes[:MAX_ROWS]]))
    left = len(nodes) - MAX_ROWS
    if left > 0:
        lines.append(f"  \N{HORIZONTAL ELLIPSIS} {left} more nodes")
    for value in graph.outputs[:MAX_ROWS]:
        lines.append(f"  output {shorten(value.name, 40)}: {type_text(value)}")
    return "\n".join(lines)


def _node_row(node: Node, outlined: Outline) -> tuple[str, ...]:
    site = places.site_of(node)
    return (
        operator_title(node),
        shorten(outlined.keys[node], 40),
        type_text(node.outputs[0]) if node.outputs else "",
        places.place(site),
        shorten(site.expression, 60) if site is not None else "",
    )
