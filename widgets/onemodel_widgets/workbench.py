"""Workbench: graph, axes and comparison in tabs over one selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import traitlets

from onemodel.compare import Report, compare
from onemodel.compare.engines import ENGINES
from onemodel.graph.ir import Node
from onemodel_widgets.axes import AxesTraits
from onemodel_widgets.diff import DiffTraits
from onemodel_widgets.error import ErrorTraits, trace_exception
from onemodel_widgets.graph import GraphTraits
from onemodel_widgets.opsets import OpsetTraits
from onemodel_widgets.shell import View, front_end
from onemodel_widgets.source import Source, source_of
from onemodel_widgets.views.scene import DEFAULT_BUDGET


class Workbench(GraphTraits, AxesTraits, DiffTraits, ErrorTraits, OpsetTraits, View):
    """All views of one model, linked: a selection in one is a selection in all.

    One widget, so that its views share their traits wherever anywidget runs.

    Args:
        shown: a ``TracedModel``, a graph, a ``ModelProto``, the path of an ``.onnx`` file,
            or a ``TraceException`` (its card and the graph up to it).
        feeds: arrays by input name for the comparison; a trace's own example where left out.
        against: columns of the comparison.
        budget: boxes shown at first.

    Without feeds for a file there is no comparison tab; only a trace can be written at
    another opset (``bench.opset = 13``; ``bench.unconvertible()`` lists where it cannot).
    """

    _esm = front_end("workbenchPanel", "graph.js", "tables.js")

    tabs = traitlets.List(traitlets.Unicode()).tag(sync=True)
    tab = traitlets.Unicode("").tag(sync=True)

    def __init__(
        self,
        shown: Any,
        feeds: Mapping[str, Any] | None = None,
        against: Sequence[Any] = ENGINES,
        *,
        budget: int = DEFAULT_BUDGET,
    ) -> None:
        super().__init__()
        refused = trace_exception(shown)
        source = source_of(shown if refused is None else refused.partial)
        self._start_graph(source, budget)
        self._start_axes(source)
        tabs = ["Graph", "Axes"]
        if refused is not None:
            self._start_error(refused)
            tabs.insert(0, "Error")
        elif source.traced is not None or feeds is not None:
            tabs.append("Comparison")
            self._run_comparison(source, feeds, against)
        if source.traced is not None:
            self._start_opsets(source)
            tabs.append("Opsets")
        self.tabs = tabs
        self.tab = tabs[0]

    def _run_comparison(
        self, source: Source, feeds: Mapping[str, Any] | None, against: Sequence[Any]
    ) -> None:
        if source.traced is None:
            against = [engine for engine in against if engine != "eager"]
        report = compare(source.subject, feeds, against)
        self._start_diff(report)
        self._show_heat(self._diff.marks())
        if self._diff.first:
            self.selected = self._diff.first

    @property
    def report(self) -> Report | None:
        """The comparison, or None where there was nothing to compare."""
        return self._report if "Comparison" in self.tabs else None

    @property
    def selected_node(self) -> Node | None:
        """The selected node, or None."""
        return self._data.outlined.node(self.selected)

    def __repr__(self) -> str:
        scene = self._picture.scene
        return f"Workbench({scene.name}: {scene.total} nodes; {', '.join(self.tabs).lower()})"

    def to_html(self) -> str:
        """The views below one another as a static fragment."""
        parts = [self._graph_to_html()]
        if "Error" in self.tabs:
            parts.insert(0, self._card.to_html())
        parts.append(self._axes.to_html())
        if "Comparison" in self.tabs:
            parts.append(self._diff.to_html())
        if "Opsets" in self.tabs:
            parts.append(self._opsets_to_html())
        return "".join(parts)

    def to_text(self) -> str:
        """The views below one another as plain text."""
        parts = [self._data.to_text(), self._axes.to_text()]
        if "Error" in self.tabs:
            parts.insert(0, self._card.to_text())
        if "Comparison" in self.tabs:
            parts.append(self._diff.to_text())
        if "Opsets" in self.tabs and self.opset != self._opset_data.base:
            parts.append(self._opset_data.to_text())
        return "\n\n".join(parts)
