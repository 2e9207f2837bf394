"""DiffView: engines side by side, value by value, the first difference selected at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import traitlets

from onemodel.compare import Report, compare, save_repro
from onemodel.compare.engines import ENGINES
from onemodel_widgets.shell import View, front_end
from onemodel_widgets.views.diff import DiffData, diff_body, diff_data

REPRO_FOLDER = "onemodel_repro"
"""Where the button writes, relative to the kernel's working directory."""


class DiffTraits(traitlets.HasTraits):
    """The comparison's part of a widget."""

    diff_html = traitlets.Unicode("").tag(sync=True)
    diff_status = traitlets.Unicode("").tag(sync=True)
    repro_wanted = traitlets.Int(0).tag(sync=True)

    _diff: DiffData
    _report: Report

    def _start_diff(self, report: Report) -> None:
        self._report = report
        self._diff = diff_data(report)
        self.diff_html = diff_body(self._diff)
        self.diff_status = (
            f"First introduced at {self._diff.first}"
            if self._diff.first
            else "No difference beyond the tolerance."
        )
        self.observe(self._on_repro, "repro_wanted")

    def save_repro(self, folder: str | Path = REPRO_FOLDER) -> Path:
        """Writes a folder with the model, its inputs, the node in question and a script."""
        return save_repro(self._report, folder)

    def _on_repro(self, _change: Any) -> None:
        try:
            folder = self.save_repro()
        except (OSError, ValueError) as error:
            self.diff_status = f"No folder was written: {error}"
        else:
            self.diff_status = f"Wrote the folder {folder.name} beside the notebook."


class DiffView(DiffTraits, View):
    """Every value in every engine; the node that introduces a difference is selected.

    Args:
        shown: a ``Report``, or what :func:`onemodel.compare.compare` takes.
        feeds: arrays by input name, where ``shown`` is no report; a trace's own example else.
        against: the columns, where ``shown`` is no report.
    """

    _esm = front_end("diffPanel", "tables.js")

    def __init__(
        self,
        shown: Any,
        feeds: Mapping[str, Any] | None = None,
        against: Sequence[Any] = ENGINES,
    ) -> None:
        super().__init__()
        report = shown if isinstance(shown, Report) else compare(shown, feeds, against)
        self._start_diff(report)
        self.selected = self._diff.first

    @property
    def report(self) -> Report:
        """The comparison behind the view."""
        return self._report

    def __repr__(self) -> str:
        data = self._diff
        verdict = "all agree" if data.agrees else data.verdict
        if data.differing:
            verdict = f"{data.differing} differ, first {data.first}"
        return f"DiffView({data.name}: {data.total} values, {verdict})"

    def to_html(self) -> str:
        """The table as a static fragment."""
        return self._diff.to_html()

    def _to_picture(self, fragment: str) -> str:
        return self._diff.to_svg()

    def to_text(self) -> str:
        """The table as plain text."""
        return self._diff.to_text()
