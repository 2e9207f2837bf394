"""GraphView: the graph of a trace or a file, foldable by module, with one selection."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import traitlets

from onemodel.graph.ir import Node
from onemodel_widgets.shell import View, front_end
from onemodel_widgets.source import Source, source_of
from onemodel_widgets.views import page
from onemodel_widgets.views.dot import LayoutCancelled, cancelled_by
from onemodel_widgets.views.graph import (
    GraphData,
    Picture,
    graph_data,
    summary_facts,
)
from onemodel_widgets.views.hierarchy import visible
from onemodel_widgets.views.names import clean
from onemodel_widgets.views.scene import DEFAULT_BUDGET, path_to

MAX_MATCHES = 500


class GraphTraits(traitlets.HasTraits):
    """The graph's part of a widget: traits, and what Python does when one changes.

    Traits:
        selected: key of the selected node, input or module.
        highlight: keys of nodes to set off.
        query: text searched for in names, operators, values and modules, folded ones too.
        expanded: keys of the open modules.
        laying_out: what the page tells while a large layout runs; "" when none does.
        cancel_wanted: counts up when the reader cancels one.
    """

    selected = traitlets.Unicode("").tag(sync=True)
    highlight = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = traitlets.Unicode("").tag(sync=True)
    expanded = traitlets.List(traitlets.Unicode()).tag(sync=True)
    svg = traitlets.Unicode("").tag(sync=True)
    head = traitlets.Unicode("").tag(sync=True)
    legend = traitlets.Unicode("").tag(sync=True)
    status = traitlets.Unicode("").tag(sync=True)
    selected_box = traitlets.Unicode("").tag(sync=True)
    matches = traitlets.List().tag(sync=True)
    highlighted = traitlets.List(traitlets.Unicode()).tag(sync=True)
    marks = traitlets.Dict().tag(sync=True)
    inspector = traitlets.Dict().tag(sync=True)
    laying_out = traitlets.Unicode("").tag(sync=True)
    cancel_wanted = traitlets.Int(0).tag(sync=True)

    _from_page = False
    _cancelled: threading.Event | None = None
    _data: GraphData
    _picture: Picture
    _source: Source
    _heat: Mapping[str, Iterable[str]]

    def _start_graph(self, source: Source, budget: int, highlight: Iterable[str] = ()) -> None:
        self._source = source
        self._heat = {}
        self._data = graph_data(
            source.graph,
            values=source.values,
            budget=budget,
            facts=source.facts,
        )
        loop = running_loop()
        quick = self._data.quick_picture()
        if quick is None and loop is None:
            quick = self._data.picture()  # no page is there to show a better one later
        self._draw(quick or self._data.sketch())
        self.expanded = sorted(self._data.opened if quick is None else quick.scene.opened)
        self.highlight = list(highlight)
        self._mark()
        if quick is None and loop is not None:
            self._lay_out_aside(loop)
        self.observe(self._on_expanded, "expanded")
        self.observe(self._on_selected, "selected")
        self.observe(self._on_query, "query")
        self.observe(lambda _change: self._mark(), "highlight")
        self.observe(self._on_cancel, "cancel_wanted")

    # What a caller may ask

    @property
    def selected_node(self) -> Node | None:
        """The selected node of the graph, or None where an input, a module or nothing is."""
        return self._data.outlined.node(self.selected)

    @property
    def node_names(self) -> list[str]:
        """The key of every node, in order: what ``selected`` and ``highlight`` take."""
        return list(self._data.outlined.keys.values())

    @property
    def visible(self) -> list[str]:
        """Names of the boxes that are drawn, without reference chips."""
        return [box.name for box in self._picture.scene.boxes if box.kind != "reference"]

    def expand(self, key: str) -> None:
        """Opens a module by its path (``encoder.layers.0``), and those around it.

        Raises KeyError naming it where there is no such module.
        """
        group = self._data.outlined.groups.get(key)
        if group is None or not key:
            known = ", ".join(k for k in list(self._data.outlined.groups)[1:6])
            raise KeyError(f"no module {key!r} in this graph; there are {known or 'none'}")
        self.expanded = sorted({*self.expanded, key, *path_to(self._data.outlined, key)})

    def collapse(self, key: str = "") -> None:
        """Closes a module, or all of them."""
        self.expanded = sorted(set(self.expanded) - {key}) if key else []

    def select(self, name: str) -> None:
        """Selects a node by its key or by the name of a value it makes.

        Raises KeyError naming it where there is neither.
        """
        outlined = self._data.outlined
        if self._data.node(name) is None:
            made = {clean(v.name): k for n, k in outlined.keys.items() for v in n.outputs}
            fed = {clean(v.name): f"input:{clean(v.name)}" for v in outlined.graph.inputs}
            found = made.get(clean(name)) or fed.get(clean(name))
            if found is None:
                raise KeyError(f"no node, module or value {name!r} in this graph")
            name = found
        self.selected = name

    def to_dot(self) -> str:
        """The picture as DOT text for any Graphviz tool."""
        return self._current().to_dot()

    def to_svg(self) -> str:
        """The picture as an SVG file of its own."""
        return self._current().to_svg(self._shown())

    def _shown(self) -> Picture:
        """The picture of the page, with selection and marks in it; nothing is laid out for it."""
        marks = {key: set(classes) for key, classes in self._heat.items()}
        for key in self.highlight:
            marks.setdefault(key, set()).add("om-highlight")
        return self._picture.marked(self.selected, marks)

    def _graph_to_html(self) -> str:
        return self._current().to_html(self._shown())

    # What changes bring about

    def _current(self) -> GraphData:
        data = self._data
        return GraphData(
            data.outlined,
            frozenset(self.expanded),
            data.values,
            self.selected,
            data.refusal,
            data.facts,
        )

    def _draw(self, picture: Picture | None = None) -> None:
        self._picture = self._data.picture() if picture is None else picture
        scene, layout = self._picture.scene, self._picture.layout
        title = scene.name or "graph"
        facts = (*summary_facts(self._data.outlined, scene), *self._data.facts)
        roles = [box.role for box in scene.boxes]
        self.head = page.head(title, *facts)
        self.legend = page.legend(roles)
        folded = sum(box.kind in ("group", "repeat") for box in scene.boxes)
        hint = f"{folded} folded: Enter or + opens. " if folded else ""
        self.status = f"{hint}{layout.note or f'Laid out by {layout.engine}.'}"
        self.svg = self._picture.svg

    def _mark(self) -> None:
        scene = self._picture.scene
        marks: dict[str, list[str]] = {}
        for key, classes in self._heat.items():
            box = scene.box(key)
            if box is not None:
                marks[box.id] = sorted({*marks.get(box.id, ()), *classes})
        boxes = [scene.box(key) for key in self.highlight]
        self.marks = marks
        self.highlighted = sorted({box.id for box in boxes if box is not None})

    def _search(self) -> None:
        text = self.query.strip().lower()
        scene = self._picture.scene
        found = []
        for node, key in self._data.outlined.keys.items() if text else ():
            values = (value.name for value in node.outputs)
            if any(text in name.lower() for name in (key, node.op_type, *values)):
                found.append({"name": key, "box": scene.where.get(key, "")})
                if len(found) == MAX_MATCHES:
                    break
        self.matches = found

    def _select(self) -> None:
        scene, key = self._picture.scene, self.selected
        box = scene.box(key) if key else None
        self.selected_box = box.id if box is not None else ""
        facts = self._data.node(key) if key else None
        if facts is None:
            self.inspector = {}
            return
        ends = {b.id: b.name for b in scene.boxes if b.kind not in ("reference", "shape")}
        held = box.id if box is not None else ""
        self.inspector = {
            **facts.to_dict(),
            "path": self._path(key),
            "sources": _names(ends, (e.source for e in scene.edges if e.target == held)),
            "targets": _names(ends, (e.target for e in scene.edges if e.source == held)),
        }

    def _path(self, key: str) -> list[dict[str, str]]:
        groups = self._data.outlined.groups
        around = sorted(path_to(self._data.outlined, key), key=lambda k: len(groups[k].path()))
        return [{"key": k, "title": groups[k].title} for k in around]

    def _on_expanded(self, _change: Any) -> None:
        self._stop_layout()
        self._data = self._current()
        if set(self.expanded) == set(self._picture.scene.opened):
            return  # this very picture is shown, for instance after a cancel
        loop = running_loop()
        if loop is None:
            self._redraw()
            return
        quick = self._data.quick_picture()
        if quick is not None:
            self._redraw(quick)
            return
        if not self._from_page:
            self._redraw(self._data.plain_picture())  # Python's next line sees what it opened
        self._lay_out_aside(loop)

    def _redraw(self, picture: Picture | None = None) -> None:
        with self.hold_trait_notifications():
            self._draw(picture)
            self._mark()
            self._search()
            self._select()

    def _lay_out_aside(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lays out on a thread, so that the kernel hears a cancel while it waits."""
        cancelled = self._cancelled = threading.Event()
        data = self._data
        boxes = len(visible(data.outlined.root, data.opened))
        self.laying_out = f"Laying out {boxes} boxes"

        def work() -> None:
            picture = None
            try:
                with cancelled_by(cancelled):
                    picture = data.picture()
            except LayoutCancelled:
                pass
            finally:
                with contextlib.suppress(RuntimeError):  # the kernel's loop has ended meanwhile
                    loop.call_soon_threadsafe(self._laid_out, cancelled, picture)

        threading.Thread(target=work, name="layout", daemon=True).start()

    def _laid_out(self, cancelled: threading.Event, picture: Picture | None) -> None:
        if self._cancelled is not cancelled:
            return  # another layout has begun, or the view was closed
        self._cancelled = None
        self.laying_out = ""
        kept = picture is None or cancelled.is_set()
        if not kept:
            self._redraw(picture)
        # Fewer groups than wanted may be open: after a cancel, or where the engine was too slow.
        self.expanded = sorted(self._picture.scene.opened)
        if kept:
            self.status = "Cancelled: the picture is as it was."

    def _on_cancel(self, _change: Any) -> None:
        if self._cancelled is not None:
            self._cancelled.set()

    def _stop_layout(self) -> None:
        """Ends a layout whose picture nobody will see."""
        if self._cancelled is not None:
            self._cancelled.set()
            self._cancelled = None
            self.laying_out = ""

    def set_state(self, sync_data: Any) -> None:
        """Takes what the page has changed; see ``ipywidgets.Widget.set_state``."""
        self._from_page = True
        try:
            super().set_state(sync_data)  # pyright: ignore[reportAttributeAccessIssue]
        finally:
            self._from_page = False

    def close(self) -> None:
        """Frees the view; a layout that still runs for it is ended."""
        self._stop_layout()
        super().close()  # pyright: ignore[reportAttributeAccessIssue]

    def _on_selected(self, _change: Any) -> None:
        outlined = self._data.outlined
        hidden = path_to(outlined, self.selected) - set(self.expanded) if self.selected else set()
        if hidden and self._picture.scene.box(self.selected) is not None:
            self.expanded = sorted({*self.expanded, *hidden})
        else:
            self._select()

    def _on_query(self, _change: Any) -> None:
        self._search()

    def _show_heat(self, heat: Mapping[str, Iterable[str]]) -> None:
        self._heat = heat
        self._mark()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The kernel's loop, in a cell; None in a script."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _names(ends: Mapping[str, str], ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ends[i] for i in ids if i in ends))[:8]


class GraphView(GraphTraits, View):
    """A graph one can look at, fold, search and click through.

    Args:
        shown: a ``TracedModel``, a graph, a ``ModelProto`` or the path of an ``.onnx`` file.
        selected: what is selected at first: a node's key or a value's name.
        highlight: keys of nodes to set off.
        budget: boxes shown at first; whole levels of modules stay folded beyond it.

    ``view.selected`` follows clicks; ``view.selected_node`` is the node itself.
    """

    _esm = front_end("graphPanel", "graph.js")

    def __init__(
        self,
        shown: Any,
        *,
        selected: str = "",
        highlight: Iterable[str] = (),
        budget: int = DEFAULT_BUDGET,
    ) -> None:
        super().__init__()
        self._start_graph(source_of(shown), budget, highlight)
        if selected:
            self.select(selected)

    def __repr__(self) -> str:
        scene = self._picture.scene
        chosen = f", selected {self.selected!r}" if self.selected else ""
        return f"GraphView({scene.name}: {scene.total} nodes, {len(self.visible)} boxes{chosen})"

    def to_html(self) -> str:
        """The picture, its legend and a table of nodes as a static fragment."""
        return self._graph_to_html()

    def to_text(self) -> str:
        """Inputs, nodes with their source lines, and outputs as plain text."""
        return self._data.to_text()
