"""A scene and its layout as SVG: escaped text, classes per role and value, colours by CSS.

Elements used are ``svg g rect path text tspan title``; there are no links, no
scripts, no references by id. Presentation attributes carry a light palette, for
places that strip style sheets; the style sheet overrides them.
"""

from __future__ import annotations

import html
from collections.abc import Collection, Mapping

from onemodel_widgets.views.layout import (
    LABEL_SIZE,
    LINE_HEIGHT,
    LINE_SIZE,
    TITLE_SIZE,
    Layout,
    Point,
    Rect,
    Route,
)
from onemodel_widgets.views.measure import SANS
from onemodel_widgets.views.names import clean, shorten
from onemodel_widgets.views.scene import Box, Cluster, Edge, Scene

ELEMENTS = frozenset({"svg", "g", "rect", "path", "text", "title"})
"""Every element a picture may hold; the front end keeps the same list."""

_MAX_NAME = 12_000


def escape(text: str) -> str:
    """Text for an element or a quoted attribute."""
    return html.escape(clean(text), quote=True)


def draw(
    scene: Scene,
    layout: Layout,
    *,
    prefix: str = "om",
    selected: str = "",
    classes: Mapping[str, Collection[str]] | None = None,
) -> str:
    """One ``<svg>`` element.

    ``prefix`` makes ids unique in a page. ``selected`` is the name of a box or of a
    node inside one. ``classes`` adds CSS classes to boxes by id.
    """
    chosen = scene.box(selected) if selected else None
    extra = classes or {}
    hidden = not scene.labelled
    parts = [
        f'<svg class="om-svg" xmlns="http://www.w3.org/2000/svg" role="group" '
        f'width="{layout.width:g}" height="{layout.height:g}" '
        f'viewBox="0 0 {layout.width:g} {layout.height:g}" '
        f'font-family="{escape(SANS)}" aria-label="{_summary(scene)}">',
        '<g class="om-viewport">',
    ]
    for cluster in scene.clusters:
        rect = layout.clusters.get(cluster.id)
        if rect is not None:
            parts.append(_cluster(cluster, rect, prefix))
    parts.append('<g class="om-edges" fill="none" stroke="#8a93a0" stroke-width="1.2">')
    for index, (edge, route) in enumerate(zip(scene.edges, layout.routes, strict=True)):
        parts.append(_edge(edge, route, f"{prefix}-e{index}"))
    parts.append("</g>")
    for cluster in scene.clusters:
        rect = layout.clusters.get(cluster.id)
        if rect is not None:
            parts.append(_cluster_head(cluster, rect))
    for box in scene.boxes:
        marks = " ".join(sorted(extra.get(box.id, ())))
        parts.append(_box(box, layout.boxes[box.id], prefix, box is chosen, marks))
    parts.append(
        f'<g class="om-edge-labels{" om-on-demand" if hidden else ""}" '
        f'font-family="monospace" font-size="{LABEL_SIZE:g}" fill="#57606a" '
        'text-anchor="middle">'
    )
    for edge, route in zip(scene.edges, layout.routes, strict=True):
        if edge.label:
            parts.append(_edge_label(edge, route))
    parts.append("</g></g></svg>")
    return "".join(parts)


def _summary(scene: Scene) -> str:
    shown = len(scene.boxes)
    return escape(f"Graph {scene.name}: {scene.total} nodes, {shown} boxes shown")


def _cluster(cluster: Cluster, rect: Rect, prefix: str) -> str:
    key = escape(shorten(cluster.key, _MAX_NAME))
    return (
        f'<g class="om-cluster om-cluster-{cluster.kind}" id="{prefix}-{cluster.id}" '
        f'data-key="{key}">'
        f"<title>{escape(shorten(cluster.key, 200))}: {cluster.count} nodes</title>"
        f'<rect x="{rect.x:g}" y="{rect.y:g}" width="{rect.width:g}" height="{rect.height:g}" '
        'rx="8" fill="#7d8590" fill-opacity="0.06" stroke="#7d8590" stroke-opacity="0.45" '
        'stroke-dasharray="4 3"/></g>'
    )


def _cluster_head(cluster: Cluster, rect: Rect) -> str:
    """Title and fold button, drawn above the edges that cross the frame."""
    key = escape(shorten(cluster.key, _MAX_NAME))
    return (
        f'<g class="om-cluster-head" data-key="{key}">'
        f'<g class="om-fold" role="button" tabindex="-1" aria-label="Close {key}">'
        f'<rect x="{rect.x + 5:g}" y="{rect.y + 4:g}" width="14" height="14" rx="3" '
        'fill="#e3e6ea"/>'
        f'<path d="M{rect.x + 8.5:g},{rect.y + 11:g}h7" stroke="#57606a" stroke-width="1.4"/></g>'
        f'<text class="om-cluster-title" x="{rect.x + 24:g}" y="{rect.y + 15:g}" '
        f'font-size="11" font-weight="600" fill="#57606a">{escape(cluster.title)}</text></g>'
    )


def _edge(edge: Edge, route: Route, ident: str) -> str:
    path = _path(route.points)
    dash = ' stroke-dasharray="4 3"' if edge.dashed else ""
    value = f" om-{edge.value}" if edge.value else ""
    title = ""
    if edge.name:
        label = f" {edge.label}" if edge.label else ""
        title = f"<title>{escape(shorten(edge.name, 120))}{escape(label)}</title>"
    return (
        f'<g class="om-edge{value}" id="{ident}" data-value="{edge.value}" '
        f'data-source="{edge.source}" data-target="{edge.target}">{title}'
        f'<path class="om-hit" d="{path}" stroke="none" stroke-width="9"/>'
        f'<path class="om-line" d="{path}"{dash}/>'
        f'<path class="om-tip" d="{_arrow(route)}" fill="#8a93a0" stroke="none"/></g>'
    )


def _path(points: tuple[Point, ...]) -> str:
    first, rest = points[0], points[1:]
    curves = " ".join(f"{x:g},{y:g}" for x, y in rest)
    return f"M{first[0]:g},{first[1]:g}C{curves}"


def _arrow(route: Route) -> str:
    """A slim triangle from the end of the line to its tip."""
    x0, y0 = route.points[-1]
    x1, y1 = route.tip
    dx, dy = x1 - x0, y1 - y0
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    nx, ny = -dy / length * 2.8, dx / length * 2.8
    return f"M{x1:.1f},{y1:.1f}L{x0 + nx:.1f},{y0 + ny:.1f}L{x0 - nx:.1f},{y0 - ny:.1f}Z"


def _edge_label(edge: Edge, route: Route) -> str:
    x, y = route.label if route.label is not None else _middle(route.points)
    return (
        f'<text class="om-edge-label om-{edge.value}" data-value="{edge.value}" '
        f'x="{x:g}" y="{y + 3:g}">{escape(edge.label)}</text>'
    )


def _middle(points: tuple[Point, ...]) -> Point:
    segment = 3 * ((len(points) - 1) // 6)
    part = points[segment : segment + 4]
    if len(part) < 4:
        return points[len(points) // 2]
    weights = (0.125, 0.375, 0.375, 0.125)
    x = sum(w * p[0] for w, p in zip(weights, part, strict=True))
    y = sum(w * p[1] for w, p in zip(weights, part, strict=True))
    return round(x, 1), round(y, 1)


def _box(box: Box, rect: Rect, prefix: str, chosen: bool, marks: str) -> str:
    selected = " om-selected" if chosen else ""
    css = f"om-node om-kind-{box.kind} om-role-{box.role}{selected}"
    if marks:
        css += f" {marks}"
    opens = f' data-opens="{escape(shorten(box.opens, _MAX_NAME))}"' if box.opens else ""
    spoken = escape(", ".join((_spoken_kind(box), box.title, *box.lines)))
    parts = [
        f'<g class="{css}" id="{prefix}-{box.id}" data-id="{box.id}" '
        f'data-name="{escape(shorten(box.name, _MAX_NAME))}"{opens} '
        f'tabindex="-1" role="button" aria-label="{spoken}">',
        f"<title>{escape(box.tooltip)}</title>" if box.tooltip else "",
    ]
    parts.extend(_frame(box, rect))
    parts.extend(_texts(box, rect))
    parts.append("</g>")
    return "".join(parts)


def _spoken_kind(box: Box) -> str:
    return {
        "group": "folded module",
        "repeat": "folded repeats",
        "shape": "shape arithmetic",
        "reference": "reference",
        "offence": "refused call",
        "ghost": "not reached",
    }.get(box.kind, box.kind)


_FILLS = {
    "input": "#3f4750",
    "output": "#3f4750",
    "weight": "#0072b2",
    "math": "#6e7781",
    "activation": "#d55e00",
    "norm": "#009e73",
    "layout": "#a97a00",
    "control": "#b0479b",
    "module": "#4c6fbf",
    "offence": "#c8102e",
    "ghost": "#9aa2ab",
}
"""Colours of the light palette, written as presentation attributes."""


def _frame(box: Box, rect: Rect) -> list[str]:
    colour = _FILLS.get(box.role, "#6e7781")
    pill = box.kind in ("input", "output", "reference", "shape")
    radius = rect.height / 2 if pill else 5
    dash = ' stroke-dasharray="4 3"' if box.kind in ("reference", "shape", "ghost") else ""
    where = f'x="{rect.x:g}" y="{rect.y:g}" width="{rect.width:g}" height="{rect.height:g}"'
    parts = []
    if box.kind in ("group", "repeat"):
        shift = 3 if box.kind == "group" else 5
        parts.append(
            f'<rect class="om-stack" x="{rect.x + shift:g}" y="{rect.y + shift:g}" '
            f'width="{rect.width:g}" height="{rect.height:g}" rx="5" fill="#ffffff" '
            f'stroke="{colour}" stroke-opacity="0.5"/>'
        )
    parts.append(f'<rect class="om-base" {where} rx="{radius:g}" fill="#ffffff"/>')
    parts.append(
        f'<rect class="om-face" {where} rx="{radius:g}" fill="{colour}" fill-opacity="0.09" '
        f'stroke="{colour}" stroke-opacity="0.75"{dash}/>'
    )
    if box.kind in ("group", "repeat"):
        right, top = rect.x + rect.width - 16, rect.y + 3
        parts.append(
            f'<g class="om-open"><rect x="{right:g}" y="{top:g}" width="13" height="13" rx="3" '
            f'fill="{colour}" fill-opacity="0.14"/><path d="M{right + 3:g},{top + 6.5:g}h7'
            f'm-3.5,-3.5v7" fill="none" stroke="{colour}" stroke-width="1.4"/></g>'
        )
    if not pill and box.kind != "ghost":
        x, y, h = rect.x, rect.y, rect.height
        parts.append(
            f'<path class="om-stripe" fill="{colour}" d="M{x + 5:g},{y:g}a5,5 0 0 0 -5,5v{h - 10:g}'
            f'a5,5 0 0 0 5,5z"/>'
        )
    return parts


def _texts(box: Box, rect: Rect) -> list[str]:
    small = box.kind in ("reference", "shape")
    x = rect.x + rect.width / 2
    size = LINE_SIZE if small else TITLE_SIZE
    baseline = rect.y + (rect.height / 2 + 3.5 if small else 7 + TITLE_SIZE - 1.5)
    font = ' font-family="monospace"' if small else ' font-weight="600"'
    parts = [
        f'<text class="om-title" x="{x:g}" y="{baseline:g}" text-anchor="middle" '
        f'font-size="{size:g}"{font} fill="#1f2328">{escape(box.title)}</text>'
    ]
    for index, line in enumerate(box.lines):
        y = baseline + LINE_HEIGHT * (index + 1)
        parts.append(
            f'<text class="om-detail" x="{x:g}" y="{y:g}" text-anchor="middle" '
            f'font-size="{LINE_SIZE:g}" font-family="monospace" fill="#57606a">'
            f"{escape(line)}</text>"
        )
    return parts
