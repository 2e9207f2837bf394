"""The graph as data: what an inspector shows of each node, and the picture of the whole."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from onemodel.graph.ir import Graph, Node, Value
from onemodel_widgets.views import page, places, svg, text
from onemodel_widgets.views.describe import array_text, attribute_text, type_text
from onemodel_widgets.views.dot import LayoutTooSlow, lay_out, to_dot
from onemodel_widgets.views.layout import Layout, layered, weight
from onemodel_widgets.views.names import clean, scope_label, scope_of, shorten
from onemodel_widgets.views.scene import (
    DEFAULT_BUDGET,
    Outline,
    Refusal,
    Scene,
    first_opened,
    make_scene,
    outline,
    path_to,
)
from onemodel_widgets.views.statistics import Statistics, statistics

_TABLE_ROWS = 200

QUICK = 5_000
"""Weight of a scene up to which its layout is quick: half a second where 10,000 boxes take many."""

PATIENCE = 1.5
"""Seconds a quick layout may take: a reader waits for it. On most machines it takes a tenth."""


@dataclass(frozen=True)
class ValueFacts:
    """One operand or result: name, dtype and shape with symbols, what is known of its numbers."""

    name: str
    type: str
    constant: bool = False
    preview: str = ""
    statistics: Statistics | None = None

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)


@dataclass(frozen=True)
class NodeFacts:
    """Everything an inspector shows of one node (or of a graph input, or a folded module)."""

    name: str
    op: str
    kind: str = "node"
    domain: str = ""
    scope: str = ""
    operator: str = ""
    attributes: tuple[tuple[str, str], ...] = ()
    inputs: tuple[ValueFacts, ...] = ()
    outputs: tuple[ValueFacts, ...] = ()
    place: str = ""
    expression: str = ""
    function: str = ""
    line: int | None = None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)


@dataclass(frozen=True)
class Picture:
    """A scene, where everything lies, and the SVG of both."""

    scene: Scene
    layout: Layout
    svg: str

    def marked(
        self, selected: str = "", marks: Mapping[str, Collection[str]] | None = None
    ) -> Picture:
        """The same picture with another selection, and CSS classes by node key; no new layout."""
        return _drawn(self.scene, self.layout, selected, marks)


@dataclass(frozen=True)
class GraphData:
    """One graph to look at, with the arrays known of it and the groups that are open."""

    outlined: Outline
    opened: frozenset[str]
    values: Mapping[str, Any] = field(default_factory=dict)
    selected: str = ""
    refusal: Refusal | None = None
    facts: tuple[str, ...] = ()

    @property
    def graph(self) -> Graph:
        return self.outlined.graph

    def picture(self, marks: Mapping[str, Collection[str]] | None = None) -> Picture:
        """The picture; ``marks`` adds CSS classes by node key."""
        return draw(self.outlined, self.opened, self.selected, self.refusal, marks)

    def quick_picture(self) -> Picture | None:
        """The picture if that takes no longer than a reader waits, else None."""
        scene = make_scene(self.outlined, self.opened, self.refusal)
        if weight(scene) > QUICK:
            return None
        try:
            return _drawn(scene, lay_out(scene, PATIENCE), self.selected)
        except LayoutTooSlow:
            return None

    def sketch(self) -> Picture:
        """What can be shown at once where :meth:`quick_picture` cannot: fewer groups open.

        Where nothing is left to fold, or the engine is slow even then, by our own layout.
        """
        level = set(self.opened)
        while deepest := _deepest(self.outlined, level):
            level -= deepest
            scene = make_scene(self.outlined, level, self.refusal)
            if weight(scene) <= QUICK:
                with contextlib.suppress(LayoutTooSlow):
                    return _drawn(scene, lay_out(scene, PATIENCE / 3), self.selected)
        return replace(self, opened=frozenset(level)).plain_picture()

    def plain_picture(self) -> Picture:
        """Everything that is open, by our own layout: crossing lines, but no engine to wait for."""
        scene = make_scene(self.outlined, self.opened, self.refusal)
        return _drawn(scene, layered(scene), self.selected)

    def at_once(self) -> Picture:
        """The picture, or a sketch of it: for views that are drawn once and never again."""
        return self.quick_picture() or self.sketch()

    def node(self, key: str) -> NodeFacts | None:
        """Facts of the node, graph input or folded module called ``key``."""
        return facts_of(self.outlined, key, self.values)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: every node's facts, without statistics."""
        keys = self.outlined.keys
        return {
            "graph": clean(self.graph.name),
            "opset": self.graph.opset,
            "nodes": [
                node_facts(self.outlined, node, key, {}).to_dict() for node, key in keys.items()
            ],
        }

    def to_text(self) -> str:
        """The graph as a plain table."""
        return text.graph_text(self.outlined, self.facts)

    def to_dot(self) -> str:
        """The picture as DOT text for any Graphviz tool."""
        scene = make_scene(self.outlined, self.opened, self.refusal)
        return to_dot(scene, labels=True)

    def to_html(self, picture: Picture | None = None) -> str:
        """Picture and table as a static fragment."""
        return page.fragment("graph", graph_body(self, picture or self.picture()), "Graph")

    def to_svg(self, picture: Picture | None = None) -> str:
        """The picture alone, with its style inside, as a file of its own."""
        drawn = (picture or self.picture()).svg
        style = f"<style>{page.style()}</style>"
        opening, rest = drawn.split(">", 1)
        opening = opening.replace('class="om-svg"', 'class="om-svg om-view"')
        return f"{opening}>{style}{rest}"


def graph_data(
    graph: Graph,
    *,
    values: Mapping[str, Any] | None = None,
    opened: Collection[str] | None = None,
    selected: str = "",
    budget: int = DEFAULT_BUDGET,
    refusal: Refusal | None = None,
    focus: str = "",
    facts: tuple[str, ...] = (),
) -> GraphData:
    """Prepares ``graph``; groups in ``opened`` are open, or as many as ``budget`` boxes allow."""
    outlined = outline(graph)
    if opened is None:
        opened = first_opened(outlined, budget, focus or selected)
    elif selected:
        opened = {*opened, *path_to(outlined, selected)}
    return GraphData(outlined, frozenset(opened), values or {}, selected, refusal, tuple(facts))


def draw(
    outlined: Outline,
    opened: Collection[str],
    selected: str = "",
    refusal: Refusal | None = None,
    marks: Mapping[str, Collection[str]] | None = None,
) -> Picture:
    """Draws the outline with ``opened`` groups open, coarser where the engine is too slow."""
    level = set(opened)
    while True:
        scene = make_scene(outlined, level, refusal)
        try:
            layout = lay_out(scene)
            break
        except LayoutTooSlow as slow:
            deepest = _deepest(outlined, level)
            if not deepest:
                layout = replace(layered(scene), note=f"Drawn by the plain layout: {slow}.")
                break
            level -= deepest
            if len(scene.boxes) > 2_000 or str(slow) == "":
                level.clear()
    if level != set(opened):
        layout = replace(layout, note=layout.note or "Fewer modules are open: all took too long.")
    return _drawn(scene, layout, selected, marks)


def _drawn(
    scene: Scene,
    layout: Layout,
    selected: str = "",
    marks: Mapping[str, Collection[str]] | None = None,
) -> Picture:
    by_box: dict[str, set[str]] = {}
    for key, classes in (marks or {}).items():
        box = scene.box(key)
        if box is not None:
            by_box.setdefault(box.id, set()).update(classes)
    prefix = page.prefix_of(f"{scene.name}{scene.total}{sorted(scene.opened)}")
    drawn = svg.draw(scene, layout, prefix=prefix, selected=selected, classes=by_box)
    return Picture(scene, layout, drawn)


def _deepest(outlined: Outline, opened: Collection[str]) -> set[str]:
    """Open groups of the deepest level that is open."""
    depths = {key: len(outlined.groups[key].path()) for key in opened if key in outlined.groups}
    bottom = max(depths.values(), default=0)
    return {key for key, depth in depths.items() if depth == bottom}


def facts_of(outlined: Outline, key: str, values: Mapping[str, Any]) -> NodeFacts | None:
    """Facts of whatever a selection may name."""
    node = outlined.node(key)
    if node is not None:
        return node_facts(outlined, node, key, values)
    group = outlined.groups.get(key)
    if group is not None and key:
        ops: dict[str, int] = {}
        for inner in group.nodes():
            ops[inner.op_type] = ops.get(inner.op_type, 0) + 1
        counted = sorted(ops.items(), key=lambda item: (-item[1], item[0]))[:12]
        return NodeFacts(
            name=key,
            op=shorten(group.title, 60),
            kind=group.kind,
            attributes=tuple((shorten(op, 40), f"{count}") for op, count in counted),
            note=f"{group.size} nodes",
        )
    kind, _, name = key.partition(":")
    ports = {"input": outlined.graph.inputs, "output": outlined.graph.outputs}.get(kind, [])
    for value in ports:
        if clean(value.name) == name:
            fact = value_facts(value, None, values)
            return NodeFacts(name=key, op=kind, kind=kind, outputs=(fact,))
    return None


def node_facts(outlined: Outline, node: Node, key: str, values: Mapping[str, Any]) -> NodeFacts:
    """Facts of one node; statistics only for values found in ``values`` or the initializers."""
    origin = node.origin
    site = places.site_of(node)
    constants = next((f for f in outlined.folded.values() if node in f.constants), None)
    arrays = constants.arrays if constants is not None else outlined.graph.initializers
    return NodeFacts(
        name=key,
        op=shorten(node.op_type, 60),
        domain=shorten(node.domain, 60),
        scope=shorten(scope_label(scope_of(node)), 120),
        operator=shorten(origin.operator, 60) if origin is not None else "",
        attributes=tuple(
            (shorten(name, 40), attribute_text(value)) for name, value in node.attributes.items()
        ),
        inputs=tuple(
            value_facts(v, arrays.get(v), values) for v in node.inputs[:40] if v is not None
        ),
        outputs=tuple(value_facts(v, None, values) for v in node.outputs[:40]),
        place=places.place(site),
        expression=shorten(site.expression, 200) if site is not None else "",
        function=shorten(site.function, 80) if site is not None else "",
        line=site.line if site is not None else None,
    )


def value_facts(value: Value, array: np.ndarray | None, values: Mapping[str, Any]) -> ValueFacts:
    """Facts of one value. ``array`` is its constant; ``values`` holds eager arrays by name."""
    known: Any = array if array is not None else _look_up(values, value.name)
    return ValueFacts(
        name=shorten(value.name, 120),
        type=type_text(value),
        constant=array is not None,
        preview=array_text(array) if array is not None and array.ndim <= 1 else "",
        statistics=statistics(known) if known is not None else None,
    )


def _look_up(values: Mapping[str, Any], name: str) -> Any:
    try:
        return values[name]
    except (KeyError, TypeError):
        return None


def graph_body(data: GraphData, picture: Picture) -> str:
    """Inner HTML of the static view: head, picture, legend, inspector, table of nodes."""
    scene = picture.scene
    parts = [
        page.head(scene.name or "graph", *summary_facts(data.outlined, scene), *data.facts),
        f'<div class="om-canvas">{picture.svg}</div>',
        page.legend(box.role for box in scene.boxes),
    ]
    chosen = data.node(data.selected) if data.selected else None
    if chosen is not None:
        parts.append(inspector_html(chosen))
    if picture.layout.note:
        parts.append(
            f'<div class="om-status" role="status">{page.escape(picture.layout.note)}</div>'
        )
    parts.append(_node_table(data.outlined))
    return "".join(parts)


def summary_facts(outlined: Outline, scene: Scene) -> tuple[str, ...]:
    """``178 nodes``, how many boxes stand for them, and the opset."""
    boxes = sum(box.kind in ("node", "group", "repeat") for box in scene.boxes)
    facts = [f"{scene.total} node{'s' if scene.total != 1 else ''}"]
    if boxes < scene.total:
        facts.append(f"{boxes} boxes shown")
    if outlined.graph.opset:
        facts.append(f"opset {outlined.graph.opset}")
    return tuple(facts)


def inspector_html(facts: NodeFacts) -> str:
    """One node's facts as a static block."""
    rows = [("name", facts.name), ("operator", facts.operator), ("module", facts.scope)]
    rows += [("source", f"{facts.place}  {facts.expression}".strip())]
    rows += [(name, value) for name, value in facts.attributes]
    rows += [(f"in  {value.name}", value.type) for value in facts.inputs]
    rows += [(f"out {value.name}", value.type) for value in facts.outputs]
    body = "".join(
        f'<tr><th scope="row">{page.escape(name)}</th><td>{page.escape(value)}</td></tr>'
        for name, value in rows
        if value
    )
    return (
        f"<details open><summary>{page.escape(facts.op)}</summary>"
        f'<table class="om-table"><tbody>{body}</tbody></table></details>'
    )


def _node_table(outlined: Outline) -> str:
    """A table of nodes behind a fold: what a screen reader or a search in the page finds."""
    shown = [
        (node, key)
        for folded in outlined.folded.values()
        for node, key in ((node, outlined.keys[node]) for node in folded.nodes)
    ]
    rows = []
    for node, key in shown[:_TABLE_ROWS]:
        site = places.site_of(node)
        result = type_text(node.outputs[0]) if node.outputs else ""
        expression = shorten(site.expression, 80) if site is not None else ""
        rows.append(
            "<tr>"
            + page.cells(
                shorten(node.op_type, 40), shorten(key, 120), result, places.place(site), expression
            )
            + "</tr>"
        )
    left = len(shown) - len(rows)
    more = f'<p class="om-muted">{left} more nodes are not listed.</p>' if left > 0 else ""
    columns = ("operator", "name", "result", "source", "call")
    return (
        f"<details><summary>{len(shown)} nodes as a table</summary>"
        f"{page.table(columns, rows, caption='Nodes')}{more}</details>"
    )
