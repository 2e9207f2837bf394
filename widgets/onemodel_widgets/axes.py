"""AxesView: every axis of every value, one colour per atom, sizes one can move."""

from __future__ import annotations

from typing import Any

import numpy as np
import traitlets

from onemodel.compare import compare
from onemodel_widgets.shell import View, front_end
from onemodel_widgets.source import Source, source_of
from onemodel_widgets.views.axes import AxesData, axes_body, axes_data

LEAST_SIZE = 2
_RANGE = 4
_MOST_ELEMENTS = 20_000_000


class AxesTraits(traitlets.HasTraits):
    """The axes' part of a widget.

    Traits:
        sizes: symbol -> size at which concrete shapes are shown.
    """

    sizes = traitlets.Dict().tag(sync=True)
    symbols = traitlets.Dict().tag(sync=True)
    axes_html = traitlets.Unicode("").tag(sync=True)
    axes_status = traitlets.Unicode("").tag(sync=True)

    _axes: AxesData
    _axes_source: Source

    def _start_axes(self, source: Source) -> None:
        self._axes_source = source
        self.sizes = dict(source.symbols)
        self._draw_axes()
        self.observe(self._on_sizes, "sizes")

    def _draw_axes(self) -> None:
        source = self._axes_source
        self._axes = axes_data(source.graph, self.sizes, source.specialisations)
        self.symbols = {
            name: {"size": self.sizes[name], "least": 1, "most": max(16, _RANGE * example)}
            for name, example in source.symbols.items()
        }
        self.axes_html = axes_body(self._axes)

    def _on_sizes(self, change: Any) -> None:
        known = self._axes_source.symbols
        sizes = {name: int(size) for name, size in change["new"].items() if name in known}
        complete = {**known, **sizes}
        if complete != change["new"]:
            self.sizes = complete
            return
        with self.hold_trait_notifications():
            self._draw_axes()
        self.axes_status = self._check()

    def _check(self) -> str:
        """Runs eager code and the session at the chosen sizes, and says whether they agree."""
        source = self._axes_source
        told = ", ".join(f"{name} = {size}" for name, size in sorted(self.sizes.items()))
        feeds = random_feeds(source, self.sizes)
        if isinstance(feeds, str):
            return f"{told}: {feeds}"
        try:
            report = compare(source.subject, feeds, against=("eager", "session"))
        except Exception as error:  # the message is the finding
            return f"{told}: cannot be checked: {_first_line(error)}"
        count = len(report.rows)
        if report.agrees:
            return f"{told}: eager and session agree on all {count} values"
        first = report.first_introduced
        where = f", first at {first.node.op_type} {first.value}" if first is not None else ""
        differing = sum(1 for _ in report.differing())
        return f"{told}: {differing} of {count} values differ{where}"


def random_feeds(source: Source, sizes: dict[str, int]) -> dict[str, np.ndarray] | str:
    """Inputs of the chosen sizes: the example tiled or cut; or why there are none."""
    feeds: dict[str, np.ndarray] = {}
    for value in source.graph.inputs:
        if value in source.graph.initializers:
            continue
        example = source.values.get(value.name)
        if example is None or value.shape is None:
            return f"no example of input {value.name!r} to make feeds from"
        shape = tuple(d if isinstance(d, int) else d.evaluate(sizes) for d in value.shape if d)
        if int(np.prod(shape, dtype=np.float64)) > _MOST_ELEMENTS:
            return f"input {value.name!r} would have more than {_MOST_ELEMENTS} elements"
        # np.resize repeats the example's own elements: indices stay valid, ranges stay real.
        feeds[value.name] = np.resize(np.asarray(example), shape)
    return feeds


def _first_line(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


class AxesView(AxesTraits, View):
    """The axes of every value as chips; hovering an atom marks each axis that carries it.

    Args:
        shown: a ``TracedModel``, a graph, a ``ModelProto`` or the path of an ``.onnx`` file.

    Setting ``view.sizes`` (or moving a slider) shows the concrete shapes there, and for a
    trace whether eager code and the session agree at those sizes.
    """

    _esm = front_end("axesPanel", "tables.js")

    def __init__(self, shown: Any) -> None:
        super().__init__()
        self._start_axes(source_of(shown))

    @property
    def data(self) -> AxesData:
        """The axes as data."""
        return self._axes

    def __repr__(self) -> str:
        names = ", ".join(atom.text for atom in self._axes.atoms if atom.declared)
        return f"AxesView({self._axes.name}: {names or 'no symbols'})"

    def to_html(self) -> str:
        """The axes as a static fragment."""
        return self._axes.to_html()

    def _to_picture(self, fragment: str) -> str:
        return self._axes.to_svg()

    def to_text(self) -> str:
        """The axes as plain text."""
        return self._axes.to_text()
