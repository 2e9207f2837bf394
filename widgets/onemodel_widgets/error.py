"""ErrorView: a refused call as a card."""

from __future__ import annotations

from typing import Any

import traitlets

from onemodel.errors import TraceException
from onemodel.graph.ir import Node
from onemodel_widgets.shell import View, front_end
from onemodel_widgets.views.error import ErrorCard, error_body, error_card


class ErrorTraits(traitlets.HasTraits):
    """The card's part of a widget."""

    error_html = traitlets.Unicode("").tag(sync=True)

    _card: ErrorCard

    def _start_error(self, exception: TraceException) -> None:
        self._card = error_card(exception)
        self.error_html = error_body(self._card)


class ErrorView(ErrorTraits, View):
    """The refused line with the call underlined, why, the way there, what to write instead.

    Args:
        exception: a ``TraceException``, or any exception that was raised because of one.

    Raises:
        TypeError: where neither the exception nor what led to it is a ``TraceException``.
    """

    _esm = front_end("errorPanel", "tables.js")

    def __init__(self, exception: BaseException) -> None:
        super().__init__()
        found = trace_exception(exception)
        if found is None:
            raise TypeError(
                f"a {type(exception).__name__} is no TraceException and none led to it; "
                "ErrorView shows what tracing refused"
            )
        self._start_error(found)

    @property
    def card(self) -> ErrorCard:
        """The card as data."""
        return self._card

    @property
    def selected_node(self) -> Node | None:
        """The selected node of the partial graph, or None."""
        partial = self._card.partial
        return partial.outlined.node(self.selected) if partial is not None else None

    def __repr__(self) -> str:
        place = f" at {self._card.place}" if self._card.place else ""
        return f"ErrorView({self._card.title}{place})"

    def to_html(self) -> str:
        """The card as a static fragment."""
        return self._card.to_html()

    def _to_picture(self, fragment: str) -> str:
        return self._card.to_svg()

    def to_text(self) -> str:
        """The card as plain text."""
        return self._card.to_text()


def trace_exception(exception: Any) -> TraceException | None:
    """The ``TraceException`` an exception is, or was raised from, or while handling; or None."""
    seen: set[int] = set()
    pending = [exception]
    while pending:
        current = pending.pop()
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        if isinstance(current, TraceException):
            return current
        seen.add(id(current))
        if isinstance(current, BaseExceptionGroup):
            pending.extend(reversed(current.exceptions))
        if not current.__suppress_context__:
            pending.append(current.__context__)
        pending.append(current.__cause__)
    return None
