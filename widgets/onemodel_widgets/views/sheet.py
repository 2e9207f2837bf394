"""A table as a picture: what a view without a graph shows where only an image is shown.

The SVG needs no style sheet, and names in it are text and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from onemodel_widgets.views.measure import SANS, text_width
from onemodel_widgets.views.names import shorten
from onemodel_widgets.views.svg import escape

MOST_ROWS: Final = 40
"""Rows of one picture: what a reader takes in at a look; the view's own table has them all."""

WIDEST: Final = 44
"""Characters of one cell."""

_LONGEST_LINE: Final = 110
_SIZE: Final = 12.0
_ROW: Final = 21.0
_GAP: Final = 18.0
_MARGIN: Final = 12.0
_INK: Final = "#1f2328"
_MUTED: Final = "#57606a"
_LINE: Final = "#d0d7de"


@dataclass(frozen=True)
class Chip:
    """Part of a cell; one with a colour stands in a frame of that colour."""

    text: str
    colour: str = ""

    @property
    def width(self) -> float:
        """Pixels it takes, its frame included."""
        return text_width(self.text, _SIZE, mono=True) + (12 if self.colour else 0)


Cell = Sequence[Chip]


def cell(text: object) -> Cell:
    """Plain text as a cell."""
    return (Chip(shorten(str(text), WIDEST)),)


def draw(
    title: str,
    lines: Sequence[str],
    columns: Sequence[str] = (),
    rows: Sequence[Sequence[Cell]] = (),
    marked: int = -1,
) -> str:
    """One ``<svg>`` element: a title, lines of text, and a table of at most ``MOST_ROWS`` rows.

    ``marked`` is the index of a row to set off; the rows shown are those around it.
    """
    first = max(0, min(marked - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    shown = rows[first : first + MOST_ROWS]
    lines = [shorten(line, _LONGEST_LINE) for line in lines]
    widths = [
        max(
            text_width(name, _SIZE, bold=True),
            *(_cell_width(row[index]) for row in shown),
        )
        for index, name in enumerate(columns if shown else ())
    ]
    starts = [_MARGIN + sum(widths[:i]) + _GAP * i for i in range(len(widths))]
    texts = [text_width(title, 14, bold=True), *(text_width(line, _SIZE) for line in lines)]
    table = sum(widths) + _GAP * max(0, len(widths) - 1)
    width = max(table, *texts) + 2 * _MARGIN
    parts, y = _head(title, lines)
    if shown:
        parts.append(_rule(y - 15, width))
        parts.extend(
            _text(start, y, name, _MUTED, "600")
            for start, name in zip(starts, columns, strict=True)
        )
        y += _ROW
    for index, row in enumerate(shown, first):
        if index == marked:
            parts.append(_band(y, width))
        parts.append(_rule(y - 15, width))
        for start, content in zip(starts, row, strict=True):
            parts.extend(_chips(start, y, content))
        y += _ROW
    if len(rows) > len(shown):
        parts.append(_text(_MARGIN, y, f"{len(rows) - len(shown)} more rows", _MUTED))
        y += _ROW
    height = y - 6
    return (
        f'<svg class="om-sheet" xmlns="http://www.w3.org/2000/svg" role="img" '
        f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'font-family="{escape(SANS)}" font-size="{_SIZE:g}" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )


def _head(title: str, lines: Sequence[str]) -> tuple[list[str], float]:
    y = _MARGIN + 12
    parts = [
        f'<text x="{_MARGIN:g}" y="{y:g}" font-size="14" font-weight="600" fill="{_INK}">'
        f"{escape(title)}</text>"
    ]
    for line in lines:
        y += 18
        parts.append(_text(_MARGIN, y, line, _MUTED))
    return parts, y + 30


def _cell_width(content: Cell) -> float:
    return sum(chip.width for chip in content) + 4 * max(0, len(content) - 1)


def _chips(x: float, y: float, content: Cell) -> list[str]:
    parts = []
    for chip in content:
        if chip.colour:
            parts.append(
                f'<rect x="{x:g}" y="{y - 12:g}" width="{chip.width:g}" height="17" rx="4" '
                f'fill="{chip.colour}" fill-opacity="0.1" stroke="{chip.colour}" '
                'stroke-opacity="0.8"/>'
            )
        inset = 6 if chip.colour else 0
        parts.append(
            f'<text x="{x + inset:g}" y="{y:g}" font-family="monospace" fill="{_INK}">'
            f"{escape(chip.text)}</text>"
        )
        x += chip.width + 4
    return parts


def _text(x: float, y: float, text: str, colour: str, weight: str = "400") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-weight="{weight}" fill="{colour}">{escape(text)}</text>'


def _rule(y: float, width: float) -> str:
    return f'<path d="M0,{y:g}H{width:g}" stroke="{_LINE}" stroke-width="1"/>'


def _band(y: float, width: float) -> str:
    return (
        f'<rect x="0" y="{y - 15:g}" width="{width:g}" height="{_ROW:g}" fill="#c8102e" '
        'fill-opacity="0.1"/>'
    )
