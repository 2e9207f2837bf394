"""Parts every view's static HTML is made of: style, escaping, tables, code.

Static HTML carries no script and asks for nothing from a network. It is the
same bytes for the same view, whatever process or hash seed made it. Spaces stand
between neighbours that a style sheet sets apart: a notebook that is not trusted has none.
"""

from __future__ import annotations

import functools
import hashlib
import html
from collections.abc import Iterable, Sequence
from importlib import resources

from onemodel.errors import CallSite
from onemodel_widgets.views.names import clean
from onemodel_widgets.views.palette import ROLES


def escape(text: object) -> str:
    """Text for an element or a quoted attribute: cleaned, then escaped."""
    return html.escape(clean(str(text)), quote=True)


def escape_lines(text: str) -> str:
    """Like :func:`escape`, with line breaks kept; for ``<pre>``."""
    return "\n".join(escape(line) for line in text.splitlines())


@functools.cache
def style() -> str:
    """The style sheet of all views, scoped to their root class."""
    return resources.files("onemodel_widgets").joinpath("static/view.css").read_text("utf-8")


@functools.cache
def _compact_style() -> str:
    lines = (line.strip() for line in style().splitlines())
    return "".join(line for line in lines if line and not line.startswith("/*"))


def prefix_of(text: str) -> str:
    """A prefix for ids: eight characters that depend on the content alone."""
    return "om" + hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()[:8]


def fragment(kind: str, body: str, label: str) -> str:
    """A view as an HTML fragment with its own style."""
    return (
        f"<style>{_compact_style()}</style>"
        f'<section class="om-view om-{kind}-view" aria-label="{escape(label)}">{body}</section>'
    )


def document(title: str, *fragments: str) -> str:
    """A self-contained page that follows the reader's light or dark preference."""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>"
        "<style>body{margin:16px;background:Canvas;color-scheme:light dark}</style></head>"
        f'<body class="om-standalone">{"".join(fragments)}</body></html>\n'
    )


def head(title: str, *facts: str) -> str:
    """The top line of a view: its title, and facts in a quieter colour."""
    spans = "".join(f' <span class="om-facts">{escape(fact)}</span>' for fact in facts if fact)
    return f'<div class="om-head"><h3>{escape(title)}</h3>{spans}</div>'


def legend(roles: Iterable[str]) -> str:
    """What the colours mean, for the roles that occur."""
    present = set(roles)
    spans = " ".join(
        f'<span><i class="om-swatch om-swatch-{role}"></i>{escape(text)}</span>'
        for role, text in ROLES.items()
        if role in present
    )
    return f'<div class="om-legend">{spans}</div>'


def table(
    columns: Sequence[str], rows: Iterable[str], *, caption: str = "", css: str = "om-table"
) -> str:
    """A table from finished ``<tr>`` elements."""
    heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    hidden = f'<caption class="om-hidden">{escape(caption)}</caption>' if caption else ""
    return (
        f'<div class="om-table-box"><table class="{css}">{hidden}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def cells(*texts: object) -> str:
    """``<td>`` elements of escaped text."""
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def code(lines: Iterable[tuple[int, str]], site: CallSite | None = None) -> str:
    """Numbered source lines; the call at ``site`` is marked."""
    rows = []
    for number, text in lines:
        here = site is not None and site.line <= number <= site.end_line
        inner = _marked(text, number, site) if here and site is not None else escape(text)
        css = "om-row om-here" if here else "om-row"
        rows.append(f'<span class="{css}"><span class="om-number">{number}</span>{inner}</span>')
    return f'<pre class="om-code">{"".join(rows)}</pre>'


def _marked(text: str, number: int, site: CallSite) -> str:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if site.column is not None and site.end_column is not None:
        if number == site.line:
            start = site.column
        if number == site.end_line:
            end = site.end_column
    start = max(0, min(start, len(text)))
    end = max(start, min(end, len(text)))
    before, inside, after = text[:start], text[start:end], text[end:]
    return f'{escape(before)}<mark class="om-offence">{escape(inside)}</mark>{escape(after)}'
