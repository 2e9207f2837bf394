"""``%load_ext onemodel_widgets``: cards for refusals, pictures for traces and reports.

IPython calls ``_render_traceback_`` twice per error, so it only returns text;
the card is displayed once, after the cell, by a ``post_run_cell`` hook, which
also runs under ``%%time``. Nothing here may raise: a failing hook would hide
the error it was to explain.
"""

from __future__ import annotations

import dataclasses
import logging
import sys
from collections.abc import Callable
from typing import Any

from onemodel.errors import CallSite, TraceException
from onemodel_widgets import magics
from onemodel_widgets.diff import DiffView
from onemodel_widgets.error import ErrorView, trace_exception
from onemodel_widgets.graph import GraphView
from onemodel_widgets.views.error import error_card

_log = logging.getLogger(__name__)

_TIMED = "<timed exec>"
_HOOK = "_onemodel_show_card"
_RENDER = "_render_traceback_"
_TRACED = ("onemodel.tracing.model", "TracedModel")
_REPORT = ("onemodel.compare.report", "Report")

_last: list[TraceException] = []


def last_error() -> ErrorView | None:
    """The card of the last refusal in this session, or None."""
    return ErrorView(_last[-1]) if _last else None


def load_ipython_extension(shell: Any) -> None:
    """Registers the hook, the short traceback and the formatters. Loading twice changes nothing."""
    if getattr(shell, _HOOK, None) is not None:
        return
    hook = _card_hook(shell)
    setattr(shell, _HOOK, hook)
    shell.events.register("post_run_cell", hook)
    setattr(TraceException, _RENDER, _render_traceback)
    magics.register(shell)
    for formatter in _mime_formatters(shell):
        formatter.for_type_by_name(*_TRACED, _bundle_of(GraphView))
        formatter.for_type_by_name(*_REPORT, _bundle_of(DiffView))


def unload_ipython_extension(shell: Any) -> None:
    """Undoes :func:`load_ipython_extension`: no card follows a refused cell any more."""
    hook = getattr(shell, _HOOK, None)
    if hook is None:
        return
    shell.events.unregister("post_run_cell", hook)
    setattr(shell, _HOOK, None)
    magics.unregister(shell)
    if _RENDER in TraceException.__dict__:
        delattr(TraceException, _RENDER)
    for formatter in _mime_formatters(shell):
        for module, name in (_TRACED, _REPORT):
            formatter.deferred_printers.pop((module, name), None)
            for known in [t for t in formatter.type_printers if _is(t, module, name)]:
                formatter.pop(known)


def _is(known: type, module: str, name: str) -> bool:
    return known.__module__ == module and known.__qualname__ == name


def _mime_formatters(shell: Any) -> list[Any]:
    formatter = shell.display_formatter
    return [formatter.mimebundle_formatter] if formatter is not None else []


def _fill_timed(exception: TraceException) -> None:
    """Gives calls under ``%%time`` their source: IPython compiles those without keeping it.

    Only the cell that has just run can be meant; its text stands in the raw history, one
    line further down than the compiled code counts.
    """
    sites = [exception.call_site, *exception.call_chain, *(s.site for s in exception.provenance)]
    if not any(site is not None and site.file == _TIMED and not site.source for site in sites):
        return
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    history = shell.history_manager.input_hist_raw if shell is not None else [""]
    lines = history[-1].split("\n")
    number = len(history) - 1
    magic = next((index for index, line in enumerate(lines) if line.startswith("%%")), None)
    if magic is None:
        return

    def filled(site: CallSite | None) -> CallSite | None:
        if site is None or site.file != _TIMED or site.source:
            return site
        first, last = site.line + magic, site.end_line + magic
        return dataclasses.replace(
            site,
            line=first + 1,
            end_line=last + 1,
            source="\n".join(lines[first : last + 1]),
            cell=number,
        )

    exception.call_site = filled(exception.call_site)
    exception.call_chain = tuple(s for s in map(filled, exception.call_chain) if s is not None)
    exception.provenance = tuple(
        dataclasses.replace(step, site=filled(step.site)) for step in exception.provenance
    )


def _card_hook(shell: Any) -> Callable[[Any], None]:
    def show_card(result: Any) -> None:
        try:
            exception = trace_exception(result.error_in_exec or result.error_before_exec)
            if exception is None:
                return
            _last[:] = [exception]
            if not hasattr(shell, "kernel"):
                return  # a terminal has printed the text already
            _fill_timed(exception)
            view = ErrorView(exception)
            bundle = view._repr_mimebundle_()
            if bundle is not None:
                shell.display_pub.publish(data=bundle[0], metadata=bundle[1])
        except Exception:
            _log.debug("no card for this error", exc_info=True)

    return show_card


def _render_traceback(self: TraceException) -> list[str]:
    """What a cell prints for a refusal: the text of the card, no frames of the library."""
    try:
        _fill_timed(self)
        return error_card(self).to_text().split("\n")
    except Exception:
        return [f"{type(self).__name__}: {self.message}"]


def _bundle_of(view: Callable[[Any], Any]) -> Callable[..., Any]:
    def bundle(shown: Any, **kwargs: Any) -> Any:
        try:
            return view(shown)._repr_mimebundle_(**kwargs)
        except Exception:
            _log.debug("no picture for this value", exc_info=True)
            return None

    return bundle
