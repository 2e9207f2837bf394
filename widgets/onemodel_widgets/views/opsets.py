"""One recording at two opsets, call by call: the nodes of each, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from onemodel.graph.ir import Graph, Node
from onemodel_widgets.views import page, places, text
from onemodel_widgets.views.describe import attribute_summary, operator_title
from onemodel_widgets.views.graph import graph_data
from onemodel_widgets.views.names import node_keys, shorten

MAX_ROWS = 400
PICTURE_BUDGET = 60
"""Boxes of each of two graphs that share the width of a page."""


@dataclass(frozen=True)
class OpsetRow:
    """One recorded call with the nodes it becomes. ``node`` is a key of the first graph."""

    operator: str
    place: str
    expression: str
    node: str
    here: tuple[str, ...]
    there: tuple[str, ...]

    @property
    def changed(self) -> bool:
        """Whether the call is written differently."""
        return self.here != self.there


@dataclass(frozen=True)
class OpsetData:
    """Two opsets side by side. ``refused`` says why the second graph cannot be written."""

    name: str
    base: int
    other: int
    rows: tuple[OpsetRow, ...]
    refused: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {**asdict(self), "changed": sum(row.changed for row in self.rows)}

    def to_text(self) -> str:
        """The changed calls as plain text."""
        return "\n".join(_text_lines(self))

    def to_html(self) -> str:
        """The table as a static fragment."""
        return page.fragment("opset", opset_body(self), "Opsets")


def opset_data(base: Graph, other: Graph | None, opset: int, refused: str = "") -> OpsetData:
    """Lines up two graphs of one recording by the number of the recorded call.

    ``other`` is None where the recording cannot be written at ``opset``, for the reason
    ``refused``.
    """
    keys = node_keys(base)
    here = _by_call(base)
    there = _by_call(other) if other is not None else {}
    rows = []
    for call in dict.fromkeys([*here, *there]):
        nodes = here.get(call) or there[call]
        site = places.site_of(nodes[0])
        origin = nodes[0].origin
        rows.append(
            OpsetRow(
                operator=shorten(origin.operator if origin is not None else "", 40),
                place=places.place(site),
                expression=shorten(site.expression, 80) if site is not None else "",
                node=keys.get(nodes[-1], ""),
                here=tuple(_node_text(node) for node in here.get(call, ())),
                there=tuple(_node_text(node) for node in there.get(call, ())),
            )
        )
    return OpsetData(shorten(base.name, 60), base.opset, opset, tuple(rows), shorten(refused, 600))


@dataclass(frozen=True)
class OpsetPictures:
    """Both graphs as SVG with changed calls set off; ``links``: key in the other -> in the base."""

    base: str
    other: str
    links: Mapping[str, str]


def opset_pictures(base: Graph, other: Graph) -> OpsetPictures:
    """Draws two graphs of one recording, to be laid side by side."""
    here, there = _by_call(base), _by_call(other)
    changed = {
        call
        for call in {*here, *there}
        if [_node_text(n) for n in here.get(call, ())]
        != [_node_text(n) for n in there.get(call, ())]
    }
    base_keys, other_keys = node_keys(base), node_keys(other)
    links = {
        other_keys[node]: base_keys[here[call][-1]]
        for call, nodes in there.items()
        for node in nodes
        if call in here
    }
    return OpsetPictures(
        _picture(base, [base_keys[n] for c in changed for n in here.get(c, ())]),
        _picture(other, [other_keys[n] for c in changed for n in there.get(c, ())]),
        dict(sorted(links.items())),
    )


def _picture(graph: Graph, changed: Iterable[str]) -> str:
    data = graph_data(graph, budget=PICTURE_BUDGET)
    return data.at_once().marked(marks=dict.fromkeys(changed, ("om-highlight",))).svg


def _by_call(graph: Graph) -> dict[int | str, list[Node]]:
    """Nodes by the number of their recorded call; a node without one stands alone."""
    calls: dict[int | str, list[Node]] = {}
    for index, node in enumerate(graph.nodes):
        record = node.origin.record if node.origin is not None else None
        call: int | str = record if record is not None else f"{node.op_type} {index}"
        calls.setdefault(call, []).append(node)
    return calls


def _node_text(node: Node) -> str:
    return f"{operator_title(node)} {attribute_summary(node)}".strip()


def opset_body(data: OpsetData, pictures: OpsetPictures | None = None) -> str:
    """Inner HTML: the verdict, both graphs, and the table with changed calls marked."""
    changed = sum(row.changed for row in data.rows)
    facts = [f"{len(data.rows)} calls"]
    if not data.refused:
        facts.append(f"{changed} written differently")
    parts = [page.head(f"Opset {data.base} and opset {data.other}", *facts)]
    if data.refused:
        parts.append(
            '<div class="om-status"><span class="om-tag om-tag-broken">cannot be written</span> '
            f"{page.escape(data.refused)}</div>"
        )
    if pictures is not None:
        sides = ((data.base, "base", pictures.base), (data.other, "other", pictures.other))
        parts.append(
            '<div class="om-pair">'
            + "".join(
                f'<div class="om-side om-side-{side}"><h4>opset {opset}</h4>'
                f'<div class="om-canvas">{picture}</div></div>'
                for opset, side, picture in sides
            )
            + "</div>"
        )
    columns = ("operator", f"opset {data.base}", f"opset {data.other}", "source")
    parts.append(page.table(columns, map(_row, data.rows[:MAX_ROWS]), caption="Calls by opset"))
    if len(data.rows) > MAX_ROWS:
        left = len(data.rows) - MAX_ROWS
        parts.append(f'<div class="om-status">{left} more calls are not listed</div>')
    return "".join(parts)


def _row(row: OpsetRow) -> str:
    state = "differs" if row.changed else "agrees"
    mark = ' <span class="om-tag om-tag-different">changed</span>' if row.changed else ""
    sides = "".join(
        f"<td>{''.join(f'<div>{page.escape(line)}</div>' for line in side)}</td>"
        for side in (row.here, row.there)
    )
    source = f"{row.place}  {row.expression}".strip()
    return (
        f'<tr data-name="{page.escape(row.node)}" data-state="{state}" tabindex="-1">'
        f"<td>{page.escape(row.operator)}{mark}</td>{sides}{page.cells(source)}</tr>"
    )


def _text_lines(data: OpsetData) -> list[str]:
    lines = [f"{data.name}: opset {data.base} and opset {data.other}"]
    if data.refused:
        return [*lines, f"  cannot be written: {data.refused}"]
    rows, left = text.capped(
        (row.operator, " + ".join(row.here), " + ".join(row.there), row.place)
        for row in data.rows
        if row.changed
    )
    if not rows:
        lines.append("  every call is written alike")
    lines.extend(text.columns(rows))
    if left:
        lines.append(f"  \N{HORIZONTAL ELLIPSIS} {left} more calls")
    return lines
