"""Where things are: sizes of boxes, the shape of a finished layout, and a layout of our own.

Our own layout (longest path, median sweeps, packing) needs nothing but Python.
It is the last rung but one when no Graphviz engine is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onemodel_widgets.views.measure import text_width
from onemodel_widgets.views.scene import Box, Scene

TITLE_SIZE = 12.0
LINE_SIZE = 10.0
LABEL_SIZE = 9.5
LINE_HEIGHT = 13.0
_PADDING_X = 12.0
_PADDING_Y = 7.0
_RANK_GAP = 34.0
_BOX_GAP = 18.0
_SWEEPS = 6

Point = tuple[float, float]


@dataclass(frozen=True)
class Rect:
    """A box on the page: left, top, width, height in pixels, y downward."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Route:
    """An edge on the page: cubic Bezier control points (3n + 1 of them), tip of the arrow."""

    points: tuple[Point, ...]
    tip: Point
    label: Point | None = None


@dataclass(frozen=True)
class Layout:
    """A finished layout of a scene. ``routes`` runs parallel to the scene's edges."""

    width: float
    height: float
    boxes: Mapping[str, Rect]
    clusters: Mapping[str, Rect]
    routes: tuple[Route, ...]
    engine: str
    note: str = ""


def box_size(box: Box) -> tuple[float, float]:
    """Width and height of a box that holds its title and lines."""
    if box.kind in ("reference", "shape"):
        return text_width(box.title, LINE_SIZE, mono=True) + 14, 17.0
    button = 24 if box.kind in ("group", "repeat") else 0
    widths = [text_width(box.title, TITLE_SIZE, bold=True) + button]
    widths.extend(text_width(line, LINE_SIZE, mono=True) for line in box.lines)
    height = 2 * _PADDING_Y + LINE_HEIGHT + 1 + LINE_HEIGHT * len(box.lines)
    return max(58.0, max(widths) + 2 * _PADDING_X), height


def label_size(label: str) -> tuple[float, float]:
    """Width and height of a label on an edge."""
    return text_width(label, LABEL_SIZE, mono=True) + 4, 13.0


def weight(scene: Scene) -> int:
    """What a layout works on: boxes, and a point for every rank that an edge crosses.

    Graphviz' time follows it closely, about 0.1 s for each 1,000.
    """
    order = [box.id for box in scene.boxes]
    forward = _forward_edges(scene, order)
    ranks = _rank(order, forward)
    return len(order) + sum(max(1, ranks[target] - ranks[source]) for source, target in forward)


def layered(scene: Scene) -> Layout:
    """A layered layout in plain Python: ranks by longest path, order by medians."""
    sizes = {box.id: box_size(box) for box in scene.boxes}
    order = [box.id for box in scene.boxes]
    forward = _forward_edges(scene, order)
    ranks = _rank(order, forward)
    rows = _rows(order, ranks)
    neighbours = _neighbours(order, forward)
    _order_rows(rows, neighbours)
    rects, width, height = _place(rows, sizes, neighbours)
    routes = tuple(_route(rects[edge.source], rects[edge.target]) for edge in scene.edges)
    return Layout(width, height, rects, _cluster_rects(scene, rects), routes, "plain")


def _forward_edges(scene: Scene, order: Sequence[str]) -> list[tuple[str, str]]:
    """Edges with cycles broken: a depth-first search drops those that lead back."""
    following: dict[str, list[str]] = {ident: [] for ident in order}
    for edge in scene.edges:
        following[edge.source].append(edge.target)
    state: dict[str, int] = {}
    forward: list[tuple[str, str]] = []
    for start in order:
        if start in state:
            continue
        state[start] = 1
        stack = [(start, iter(following[start]))]
        while stack:
            ident, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                state[ident] = 2
                stack.pop()
            elif state.get(target) != 1:
                forward.append((ident, target))
                if target not in state:
                    state[target] = 1
                    stack.append((target, iter(following[target])))
    return forward


def _rank(order: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    incoming = dict.fromkeys(order, 0)
    following: dict[str, list[str]] = {ident: [] for ident in order}
    for source, target in edges:
        incoming[target] += 1
        following[source].append(target)
    ranks = dict.fromkeys(order, 0)
    ready = [ident for ident in order if not incoming[ident]]
    while ready:
        ident = ready.pop()
        for target in following[ident]:
            ranks[target] = max(ranks[target], ranks[ident] + 1)
            incoming[target] -= 1
            if not incoming[target]:
                ready.append(target)
    # A source that feeds only far below sits just above its nearest reader.
    for ident in order:
        if following[ident] and ranks[ident] == 0:
            ranks[ident] = max(0, min(ranks[target] for target in following[ident]) - 1)
    return ranks


def _rows(order: Sequence[str], ranks: Mapping[str, int]) -> list[list[str]]:
    rows: list[list[str]] = [[] for _ in range(max(ranks.values(), default=0) + 1)]
    for ident in order:
        rows[ranks[ident]].append(ident)
    return rows


def _neighbours(
    order: Sequence[str], edges: Sequence[tuple[str, str]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    above: dict[str, list[str]] = {ident: [] for ident in order}
    below: dict[str, list[str]] = {ident: [] for ident in order}
    for source, target in edges:
        below[source].append(target)
        above[target].append(source)
    return above, below


def _order_rows(
    rows: list[list[str]], neighbours: tuple[dict[str, list[str]], dict[str, list[str]]]
) -> None:
    above, below = neighbours
    place = {ident: index for row in rows for index, ident in enumerate(row)}
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        table = above if down else below
        for row in rows if down else reversed(rows):
            row.sort(key=lambda ident: _median(ident, table, place))
            for index, ident in enumerate(row):
                place[ident] = index


def _median(ident: str, table: Mapping[str, list[str]], place: Mapping[str, float]) -> float:
    spots = sorted(place[other] for other in table[ident])
    return spots[len(spots) // 2] if spots else place[ident]


def _place(
    rows: list[list[str]],
    sizes: Mapping[str, tuple[float, float]],
    neighbours: tuple[dict[str, list[str]], dict[str, list[str]]],
) -> tuple[dict[str, Rect], float, float]:
    """Centres of boxes: packed, then drawn toward the median of their neighbours."""
    above, below = neighbours
    centre: dict[str, float] = {}
    for row in rows:
        x = 0.0
        for ident in row:
            centre[ident] = x + sizes[ident][0] / 2
            x += sizes[ident][0] + _BOX_GAP
        for ident in row:
            centre[ident] -= x / 2
    for sweep in range(_SWEEPS):
        table = above if sweep % 2 == 0 else below
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [_median(ident, table, centre) for ident in row]
            _spread(row, wanted, sizes, centre)
    left = min(centre[ident] - sizes[ident][0] / 2 for row in rows for ident in row) if rows else 0
    rects: dict[str, Rect] = {}
    y = 8.0
    right = 0.0
    for row in rows:
        tallest = max((sizes[ident][1] for ident in row), default=0.0)
        for ident in row:
            width, height = sizes[ident]
            x = centre[ident] - width / 2 - left + 8
            rects[ident] = Rect(x, y + (tallest - height) / 2, width, height)
            right = max(right, x + width)
        y += tallest + _RANK_GAP
    return rects, right + 8, y - _RANK_GAP + 8


def _spread(
    row: list[str],
    wanted: list[float],
    sizes: Mapping[str, tuple[float, float]],
    centre: dict[str, float],
) -> None:
    """Moves a row toward ``wanted`` without overlap: mean of a push right and a push left."""
    rightward: list[float] = []
    for index, ident in enumerate(row):
        spot = wanted[index]
        if index:
            spot = max(spot, rightward[-1] + _distance(row[index - 1], ident, sizes))
        rightward.append(spot)
    leftward = list(wanted)
    for index in range(len(row) - 2, -1, -1):
        gap = _distance(row[index], row[index + 1], sizes)
        leftward[index] = min(wanted[index], leftward[index + 1] - gap)
    for ident, right, left in zip(row, rightward, leftward, strict=True):
        centre[ident] = (right + left) / 2
    for index in range(1, len(row)):
        gap = _distance(row[index - 1], row[index], sizes)
        centre[row[index]] = max(centre[row[index]], centre[row[index - 1]] + gap)


def _distance(first: str, second: str, sizes: Mapping[str, tuple[float, float]]) -> float:
    return (sizes[first][0] + sizes[second][0]) / 2 + _BOX_GAP


def _route(source: Rect, target: Rect) -> Route:
    start = (source.x + source.width / 2, source.y + source.height)
    tip = (target.x + target.width / 2, target.y)
    end = (tip[0], tip[1] - 7)
    bend = max(10.0, (end[1] - start[1]) * 0.45)
    points = (start, (start[0], start[1] + bend), (end[0], end[1] - bend), end)
    middle = ((start[0] + end[0]) / 2 + 4, (start[1] + end[1]) / 2 + 4)
    return Route(points, tip, middle)


def _cluster_rects(scene: Scene, rects: Mapping[str, Rect]) -> dict[str, Rect]:
    """Frames around open groups, where no foreign box lies inside the frame."""
    parents = {cluster.id: cluster.parent for cluster in scene.clusters}
    inside: dict[str, set[str]] = {cluster.id: set() for cluster in scene.clusters}
    for box in scene.boxes:
        cluster = box.cluster
        while cluster:
            inside[cluster].add(box.id)
            cluster = parents[cluster]
    frames: dict[str, Rect] = {}
    for cluster, members in inside.items():
        if not members:
            continue
        left = min(rects[m].x for m in members) - 6
        top = min(rects[m].y for m in members) - 16
        right = max(rects[m].x + rects[m].width for m in members) + 6
        bottom = max(rects[m].y + rects[m].height for m in members) + 6
        frame = Rect(left, top, right - left, bottom - top)
        if not any(_touches(frame, rects[b.id]) for b in scene.boxes if b.id not in members):
            frames[cluster] = frame
    return frames


def _touches(frame: Rect, rect: Rect) -> bool:
    return (
        rect.x < frame.x + frame.width
        and frame.x < rect.x + rect.width
        and rect.y < frame.y + frame.height
        and frame.y < rect.y + rect.height
    )
