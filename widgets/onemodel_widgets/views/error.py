"""A refused call as a card: the line, why, where the value came from, what to write instead."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field
from typing import Any

from onemodel.codes import CODES
from onemodel.errors import CallSite, TraceException
from onemodel.graph.ir import Graph
from onemodel_widgets.views import page, places, sheet
from onemodel_widgets.views.graph import GraphData, Picture, graph_data
from onemodel_widgets.views.names import clean, node_keys, shorten
from onemodel_widgets.views.scene import Refusal

PARTIAL_BUDGET = 40
"""Boxes of the partial graph shown at first."""

_CHAIN_FRAMES = 6

KIND_WORDS = {
    "DATA_DEPENDENT": "A number was read out of a traced tensor",
    "IN_PLACE_MUTATION": "A traced tensor was written in place",
    "NO_GRAD_IN_TRACE": "Gradients were switched off while tracing",
    "SYMBOLIC_SHAPE": "A symbolic size met something that needs a fixed one",
    "INVALID_USAGE": "The tracer was used in a way it cannot follow",
    "UNSUPPORTED_OPERATION": "An operation has no form in the graph",
}
"""One heading per kind, in plain words."""


@dataclass(frozen=True)
class Step:
    """One line of the way from an input to the refused call."""

    value: str
    operation: str
    type: str
    place: str
    expression: str


@dataclass(frozen=True)
class ErrorCard:
    """A ``TraceException`` ready to be shown. Holds text and the partial graph, no tensors."""

    kind: str
    code: str
    title: str
    heading: str
    operation: str
    message: str
    why: str
    place: str
    function: str
    lines: tuple[tuple[int, str], ...]
    site: CallSite | None
    called_from: tuple[tuple[str, str, str], ...]
    steps: tuple[Step, ...]
    axes: tuple[str, ...]
    rewrites: tuple[tuple[str, str], ...]
    partial: GraphData | None = field(default=None, repr=False)

    @functools.cached_property
    def picture(self) -> Picture | None:
        """The graph up to the call, laid out once."""
        return self.partial.at_once() if self.partial is not None else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form, without the partial graph."""
        result = {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("partial", "picture", "site", "steps")
        }
        result["steps"] = [asdict(step) for step in self.steps]
        result["site"] = self.site.to_dict() if self.site is not None else None
        return result

    def to_text(self) -> str:
        """The card as plain text."""
        return "\n".join(_text_lines(self))

    def to_svg(self) -> str:
        """The graph up to the call as a picture, or the card's text where there is no graph."""
        if self.picture is not None:
            return self.picture.svg
        lines = _text_lines(self)
        return sheet.draw(lines[0], lines[1 : sheet.MOST_ROWS])

    def to_html(self) -> str:
        """The card as a static fragment."""
        return page.fragment("error", error_body(self), f"{self.title}: {self.heading}")


def error_card(exception: TraceException) -> ErrorCard:
    """Reads an exception into a card; cell numbers are filled in where they are known."""
    site = exception.call_site
    site = places.numbered(site) if site is not None else None
    outer = list(exception.call_chain)[:-1][-_CHAIN_FRAMES:]
    return ErrorCard(
        kind=exception.kind.name,
        code=exception.code,
        title=exception.title,
        heading=KIND_WORDS.get(exception.kind.name, exception.kind.title),
        operation=exception.operation,
        message=clean(exception.message),
        why=CODES[exception.code].why if exception.code in CODES else "",
        place=places.place(site),
        function=clean(site.function) if site is not None else "",
        lines=tuple(places.context(site)) if site is not None and site.source else (),
        site=site,
        called_from=tuple(
            (places.place(frame), clean(frame.function), shorten(frame.expression, 120))
            for frame in outer
        ),
        steps=tuple(
            Step(
                value=shorten(step.value, 60),
                operation=shorten(step.operation, 40),
                type=shorten(f"{step.dtype}{step.shape}", 80),
                place=places.place(step.site),
                expression=shorten(step.site.expression, 120) if step.site is not None else "",
            )
            for step in exception.provenance
        ),
        axes=tuple(_axis_text(axis) for axis in exception.axes),
        rewrites=tuple((clean(r.title), r.code) for r in exception.suggestions),
        partial=_partial(exception, site),
    )


def _axis_text(axis: Any) -> str:
    where = "" if axis.axis is None else f", axis {axis.axis} of {shorten(axis.value, 60)},"
    return f"{clean(axis.extent)}{where} is {axis.example} in the example"


def _partial(exception: TraceException, site: CallSite | None) -> GraphData | None:
    graph = exception.partial
    if not isinstance(graph, Graph) or not (graph.nodes or graph.inputs):
        return None
    refusal = Refusal(exception.value, shorten(exception.operation, 40), places.place(site))
    keys = node_keys(graph)
    met = next((v for v in graph.values() if v.name == exception.value), None)
    focus = keys.get(met.producer, "") if met is not None and met.producer is not None else ""
    return graph_data(graph, budget=PARTIAL_BUDGET, refusal=refusal, focus=focus)


def error_body(card: ErrorCard) -> str:
    """Inner HTML of the card."""
    parts = [
        '<div class="om-main">',
        f'<span class="om-kind">\N{BLACK DIAMOND} {page.escape(card.title)}</span> '
        f'<span class="om-muted">{page.escape(card.heading)}</span>',
        f'<p class="om-message">{page.escape(card.message)}</p>',
    ]
    if card.why and card.why[1:] not in card.message:
        parts.append(f'<p class="om-why">{page.escape(card.why)}</p>')
    if card.place:
        where = f"{card.place} in {card.function}" if card.function else card.place
        parts.append(f'<div class="om-place">{page.escape(where)}</div>')
    if card.lines:
        parts.append(page.code(card.lines, card.site))
    if card.rewrites:
        parts.append('<div class="om-section">Write instead</div>')
        parts.extend(_rewrite(title, code) for title, code in card.rewrites)
    if card.steps:
        parts.append('<div class="om-section">How the value came to be traced</div>')
        parts.append(f'<ol class="om-chain">{"".join(_step(s) for s in card.steps)}</ol>')
    if card.axes:
        parts.append('<div class="om-section">Symbolic sizes involved</div>')
        parts.append("".join(f"<div>{page.escape(axis)}</div>" for axis in card.axes))
    if card.called_from:
        rows = "".join(
            f'<div class="om-mono">{page.escape(place)} in {page.escape(function)}: '
            f"{page.escape(expression)}</div>"
            for place, function, expression in card.called_from
        )
        parts.append(f"<details><summary>Called from</summary>{rows}</details>")
    drawn = card.picture
    if drawn is not None:
        count = drawn.scene.total
        word = "node" if count == 1 else "nodes"
        parts.append(
            f"<details open><summary>The graph up to the call, {count} {word}</summary>"
            f'<div class="om-canvas">{drawn.svg}</div></details>'
        )
    parts.append("</div>")
    return "".join(parts)


def _rewrite(title: str, code: str) -> str:
    text = page.escape_lines(code)
    block = f'<pre class="om-code">{text}</pre>' if code else ""
    return f'<div class="om-rewrite">{page.escape(title)}{block}</div>'


def _step(step: Step) -> str:
    source = f"{step.place}  {step.expression}".strip()
    return (
        f"<li><span>{page.escape(step.value)}</span> "
        f"<span>{page.escape(step.operation)} {page.escape(step.type)}</span> "
        f'<span class="om-muted">{page.escape(source)}</span></li>'
    )


def _text_lines(card: ErrorCard) -> list[str]:
    lines = [f"{card.title}: {card.message}"]
    if card.place:
        lines.append(f"  --> {card.place} in {card.function}")
    if card.site is not None and card.site.source:
        lines.append(f"   |  {clean(card.site.source.split(chr(10))[0])}")
        lines.append(f"   |  {card.site.underline}")
    for title, code in card.rewrites:
        lines.append(f"  instead: {title}")
        lines.extend(f"      {clean(line)}" for line in code.splitlines())
    if card.steps:
        lines.append("  how the value came to be traced:")
        lines.extend(
            f"    {s.value} = {s.operation} {s.type}   {s.place}   {s.expression}".rstrip()
            for s in card.steps
        )
    lines.extend(f"  axis {axis}" for axis in card.axes)
    return lines
