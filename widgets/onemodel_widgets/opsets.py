"""The opset chooser of the workbench: the recording written again, beside the first graph."""

from __future__ import annotations

import traitlets

from onemodel.graph.ir import Graph
from onemodel.graph.schema import NEWEST_OPSET
from onemodel.symbolic.context import EmissionError
from onemodel.symbolic.registry import LOWEST_OPSET
from onemodel_widgets.source import Source
from onemodel_widgets.views import page
from onemodel_widgets.views.opsets import (
    OpsetData,
    OpsetPictures,
    opset_body,
    opset_data,
    opset_pictures,
)


class OpsetTraits(traitlets.HasTraits):
    """The opsets' part of a widget.

    Traits:
        opset: the opset to compare the shown graph with. Its own shows no second picture.
        opset_links: node of the other graph -> node of the shown one, by recorded call.
    """

    opset = traitlets.Int(0).tag(sync=True)
    opsets = traitlets.List(traitlets.Int()).tag(sync=True)
    opset_html = traitlets.Unicode("").tag(sync=True)
    opset_links = traitlets.Dict().tag(sync=True)

    _opset_data: OpsetData
    _opset_pictures: OpsetPictures | None
    _opset_source: Source

    def _start_opsets(self, source: Source) -> None:
        self._opset_source = source
        self.opsets = list(range(LOWEST_OPSET, NEWEST_OPSET + 1))
        self.opset = source.graph.opset
        self._draw_opsets()
        self.observe(lambda _change: self._draw_opsets(), "opset")

    def _draw_opsets(self) -> None:
        base = self._opset_source.graph
        other, refused = written_at(self._opset_source, self.opset)
        self._opset_data = opset_data(base, other, self.opset, refused)
        if other is not None and self.opset != base.opset:
            self._opset_pictures = opset_pictures(base, other)
        else:
            self._opset_pictures = None
        self.opset_links = self._opset_pictures.links if self._opset_pictures else {}
        self.opset_html = opset_body(self._opset_data, self._opset_pictures)

    def _opsets_to_html(self) -> str:
        """The comparison as a static fragment, once another opset was chosen; "" before."""
        if self.opset == self._opset_data.base:
            return ""
        return page.fragment("opset", self.opset_html, "Opsets")

    def unconvertible(self) -> dict[int, str]:
        """Opset -> why the recording cannot be written there, for those where it cannot."""
        answers = ((opset, written_at(self._opset_source, opset)[1]) for opset in self.opsets)
        return {opset: refused for opset, refused in answers if refused}


def written_at(source: Source, opset: int) -> tuple[Graph | None, str]:
    """The recording's graph at ``opset``, or why there is none."""
    try:
        return source.traced.graph_for(opset), ""
    except (EmissionError, ValueError) as error:
        return None, str(error)
