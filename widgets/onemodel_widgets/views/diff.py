"""A comparison as a table: a row per value, a column per engine, the first difference marked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from onemodel.compare.classes import HISTOGRAM_LOW, NOT_NUMERIC, Difference, DifferenceClass
from onemodel.compare.report import Report, Row
from onemodel_widgets.views import page, places, sheet, text
from onemodel_widgets.views.names import node_keys, shorten

MAX_ROWS = 400
_INKS = {"equal": "#1a7f55", "close": "#8a93a0", "different": "#d55e00", "broken": "#c8102e"}
"""The style sheet's colours of ``om-tag-``, for the picture, which has no style sheet."""


@dataclass(frozen=True)
class Cell:
    """One value in one engine: what differs, in words, and how bad (0 to 3)."""

    text: str
    status: str
    tag: str
    severity: int
    title: str
    histogram: tuple[int, ...] = ()


@dataclass(frozen=True)
class DiffRow:
    """One value. ``node`` is its producer's key, which a selection names."""

    node: str
    value: str
    operator: str
    type: str
    place: str
    expression: str
    cells: tuple[Cell, ...]
    differs: bool
    introduced: bool


@dataclass(frozen=True)
class DiffData:
    """A report ready to be shown. ``first`` is the key of the node that introduces a difference."""

    name: str
    reference: str
    columns: tuple[str, ...]
    rows: tuple[DiffRow, ...]
    counts: tuple[tuple[str, str], ...]
    failures: tuple[tuple[str, str], ...]
    tolerance: float
    first: str = ""
    first_row: int = -1
    total: int = 0
    differing: int = 0
    agrees: bool = True

    @property
    def verdict(self) -> str:
        """In words: what differs, or what cannot be said because an engine gave no values."""
        if self.differing:
            return _differing_text(self.differing)
        return "every value agrees" if self.agrees else "not everything was compared"

    @property
    def placed(self) -> bool:
        """Whether any row has a place in the source: an imported file often has none."""
        return any(row.place or row.expression for row in self.rows)

    @property
    def headings(self) -> tuple[str, ...]:
        """The columns of the table."""
        return ("operator", "value", "type", *self.columns, *(["source"] if self.placed else []))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)

    def to_text(self) -> str:
        """The table as plain text."""
        return "\n".join(_text_lines(self))

    def to_svg(self) -> str:
        """The table as a picture: the verdict, and the rows around the first difference."""
        return _sheet(self)

    def to_html(self) -> str:
        """The table as a static fragment."""
        return page.fragment("diff", diff_body(self), "Comparison")

    def marks(self) -> dict[str, set[str]]:
        """CSS classes by node key that draw the comparison into a graph."""
        marks: dict[str, set[str]] = {}
        for row in self.rows:
            worst = max((cell.severity for cell in row.cells), default=0)
            if worst > 1:
                marks.setdefault(row.node, set()).add(f"om-worse-{worst}")
            if row.introduced:
                marks.setdefault(row.node, set()).add("om-introduced")
        return marks


def diff_data(report: Report) -> DiffData:
    """Reads a report; all rows up to a cap, and beyond it those that differ come first."""
    keys = node_keys(report.graph)
    first = report.first_introduced
    chosen = list(report.rows)
    if len(chosen) > MAX_ROWS:
        differing = {id(row) for row in report.differing()}
        kept = [row for row in chosen if id(row) in differing][:MAX_ROWS]
        room = MAX_ROWS - len(kept)
        kept_ids = {id(row) for row in kept}
        kept_ids |= {id(row) for row in [r for r in chosen if id(r) not in differing][:room]}
        chosen = [row for row in chosen if id(row) in kept_ids]
    rows = tuple(_row(row, keys.get(row.node, ""), report) for row in chosen)
    return DiffData(
        name=shorten(report.graph.name, 60),
        reference=shorten(report.reference, 30),
        columns=tuple(shorten(label, 30) for label in report.columns),
        rows=rows,
        counts=tuple(
            (shorten(label, 30), _counted(report.counts(label))) for label in report.columns
        ),
        failures=tuple(
            (shorten(label, 30), shorten(why, 300)) for label, why in report.failures.items()
        ),
        tolerance=report.tolerance,
        agrees=report.agrees,
        first=keys.get(first.node, "") if first is not None else "",
        first_row=next((i for i, row in enumerate(chosen) if row is first), -1),
        total=len(report.rows),
        differing=sum(1 for _ in report.differing()),
    )


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))


def _row(row: Row, key: str, report: Report) -> DiffRow:
    site = places.site_of(row.node)
    return DiffRow(
        node=key,
        value=shorten(row.value, 80),
        operator=shorten(row.node.op_type, 40),
        type=shorten(row.type, 60),
        place=places.place(site),
        expression=shorten(site.expression, 100) if site is not None else "",
        cells=tuple(_cell(row, label) for label in report.columns),
        differs=row.differs,
        introduced=any(row.introduced.values()),
    )


def _cell(row: Row, label: str) -> Cell:
    difference = row.differences[label]
    status = row.status(label)
    if row.reference == label and difference.kind is DifferenceClass.EQUAL:
        return Cell("judges", "equal", "close", 0, f"no {row.reference} value before {label}")
    return Cell(
        text=str(difference),
        status=status,
        tag=_tag(difference),
        severity=0 if difference.kind is DifferenceClass.MISSING else difference.severity,
        title=_details(difference, row.reference),
        histogram=difference.histogram,
    )


def _tag(difference: Difference) -> str:
    if difference.kind is DifferenceClass.EQUAL:
        return "equal"
    if difference.within:
        return "close"
    return "broken" if difference.kind in NOT_NUMERIC else "different"


def _details(difference: Difference, reference: str) -> str:
    if not difference.count:
        return f"against {reference}"
    parts = [
        f"against {reference}",
        f"{difference.count} of {difference.size} elements",
        f"worst at {list(difference.worst)}",
    ]
    if difference.kind not in NOT_NUMERIC:
        parts.append(f"absolute {difference.max_absolute:.3g}")
        parts.append(f"relative {difference.max_relative:.3g}")
        parts.append(f"scaled {difference.scaled:.3g}")
    return "; ".join(parts)


def _differing_text(count: int) -> str:
    return "1 value differs" if count == 1 else f"{count} values differ"


def diff_body(data: DiffData) -> str:
    """Inner HTML: the verdict, the first difference, the table."""
    others = ", ".join(data.columns) or "nothing"
    verdict = data.verdict
    parts = [
        page.head(
            f"{data.reference} against {others}",
            f"{data.total} values",
            verdict,
            f"tolerance {data.tolerance:g} of the largest element",
        )
    ]
    for label, counted in data.counts:
        parts.append(f'<div class="om-status">{page.escape(label)}: {page.escape(counted)}</div>')
    for label, why in data.failures:
        parts.append(
            f'<div class="om-status">{page.escape(label)} did not run: {page.escape(why)}</div>'
        )
    if 0 <= data.first_row < len(data.rows):
        parts.append(_first(data.rows[data.first_row]))
    placed = data.placed
    rows = (_row_html(row, index == data.first_row, placed) for index, row in enumerate(data.rows))
    parts.append(page.table(data.headings, rows, caption="Differences per value"))
    if len(data.rows) < data.total:
        parts.append(
            f'<div class="om-status">{data.total - len(data.rows)} more values are not listed</div>'
        )
    return "".join(parts)


def _first(row: DiffRow) -> str:
    source = f"{row.place}  {row.expression}".strip()
    worst = max(row.cells, key=lambda cell: cell.severity)
    return (
        '<div class="om-head"><span><strong>First introduced</strong> by '
        f"{page.escape(row.operator)} <code>{page.escape(row.node)}</code></span> "
        f'<code class="om-muted">{page.escape(source)}</code> '
        f'<span class="om-facts">{page.escape(worst.title)}</span> '
        f"{histogram(worst.histogram)}</div>"
    )


def histogram(counts: tuple[int, ...]) -> str:
    """Elements per decade of error as small bars, with the range in words."""
    filled = [index for index, count in enumerate(counts) if count]
    if not filled:
        return ""
    low, high = filled[0], filled[-1]
    tallest = max(counts)
    bars = "".join(
        f'<rect x="{(index - low) * 10}" y="{30 - 28 * counts[index] / tallest:.1f}" width="8" '
        f'height="{28 * counts[index] / tallest:.1f}"/>'
        for index in range(low, high + 1)
        if counts[index]
    )
    width = (high - low + 1) * 10
    span = f"errors from 1e{low + HISTOGRAM_LOW} to 1e{high + HISTOGRAM_LOW + 1}"
    return (
        f'<svg class="om-bars" width="{width}" height="30" viewBox="0 0 {width} 30" role="img" '
        f'aria-label="{span}"><g fill="#d55e00">{bars}</g></svg>'
        f'<span class="om-facts">{span}</span>'
    )


def _row_html(row: DiffRow, first: bool, placed: bool) -> str:
    source = page.cells(f"{row.place}  {row.expression}".strip()) if placed else ""
    css = ' class="om-first"' if first else ""
    state = "differs" if row.differs else "agrees"
    cells = "".join(
        f'<td title="{page.escape(cell.title)}"><span class="om-tag om-tag-{cell.tag}">'
        f"{page.escape(cell.text)}</span>{_note(cell)}</td>"
        for cell in row.cells
    )
    return (
        f'<tr{css} data-name="{page.escape(row.node)}" data-state="{state}" tabindex="-1">'
        f"{page.cells(row.operator, row.value, row.type)}{cells}{source}</tr>"
    )


def _sheet(data: DiffData) -> str:
    others = ", ".join(data.columns) or "nothing"
    limit = f"tolerance {data.tolerance:g} of the largest element"
    lines = [f"{data.total} values, {data.verdict}, {limit}"]
    lines += [f"{label}: {counted}" for label, counted in data.counts]
    lines += [f"{label} did not run: {why}" for label, why in data.failures]
    placed = data.placed
    rows = [
        (
            sheet.cell(row.operator),
            sheet.cell(row.value),
            sheet.cell(row.type),
            *((sheet.Chip(shorten(c.text, sheet.WIDEST), _INKS[c.tag]),) for c in row.cells),
            *([sheet.cell(row.place)] if placed else []),
        )
        for row in data.rows
    ]
    title = f"{data.reference} against {others}"
    return sheet.draw(title, lines, data.headings, rows, data.first_row)


def _note(cell: Cell) -> str:
    if cell.status in ("introduced here", "inherited"):
        return f' <span class="om-muted">{cell.status}</span>'
    return ""


def _text_lines(data: DiffData) -> list[str]:
    verdict = data.verdict
    lines = [
        f"{data.reference} against {', '.join(data.columns)}: {data.total} values, {verdict} "
        f"(tolerance {data.tolerance:g} of the largest element)"
    ]
    lines.extend(f"  {label}: {counted}" for label, counted in data.counts)
    lines.extend(f"  {label} did not run: {why}" for label, why in data.failures)
    if 0 <= data.first_row < len(data.rows):
        row = data.rows[data.first_row]
        lines.append(f"  first introduced by {row.operator} {row.node}  {row.place}".rstrip())
    shown, left = text.capped(
        (
            ">" if row.introduced else " ",
            row.operator,
            row.value,
            row.type,
            *(cell.text + (f" ({cell.status})" if cell.severity > 1 else "") for cell in row.cells),
            row.place,
        )
        for row in data.rows
    )
    lines.extend(text.columns(shown))
    if left:
        lines.append(f"  \N{HORIZONTAL ELLIPSIS} {left} more values")
    return lines
