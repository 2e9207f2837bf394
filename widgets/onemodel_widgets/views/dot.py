"""The one place that knows Graphviz: DOT text, the engines, and their answers.

Engines are tried in this order: ``dot`` on PATH, ``graphviz-pure`` (a package
from PyPI that brings its own command), then the layered layout of our own.
A missing engine is never an error.
"""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import graphviz

from onemodel_widgets.views.layout import Layout, Point, Rect, Route, box_size, label_size, layered
from onemodel_widgets.views.scene import Box, Cluster, Scene

TIMEOUT = 5.0
"""Seconds an engine may take before the next rung."""

HINT = (
    "drawn by the plain layout; for routed edges install a layout engine: "
    "pip install graphviz-pure, or the system package graphviz"
)

_LIMIT_FROM = 200
"""Edges from which the engine's search is cut short; below, it may look for the best."""

_POLL = 0.05
"""Seconds between two looks at whether the reader has cancelled."""

_POINTS_PER_INCH = 72.0
_MARGIN = 8.0


_ENGINES: set[subprocess.Popen[bytes]] = set()
"""Engines at work: a thread that waits for one ends with the interpreter, the engine would not."""


@atexit.register
def _end_engines() -> None:
    for engine in list(_ENGINES):
        engine.kill()


class LayoutTooSlow(Exception):
    """No engine answered in time; a coarser scene may."""


class LayoutCancelled(Exception):
    """The reader did not want to wait any longer."""


_CANCELLED: ContextVar[threading.Event | None] = ContextVar("cancelled", default=None)


@contextmanager
def cancelled_by(event: threading.Event) -> Iterator[None]:
    """Inside the block an engine is ended by ``LayoutCancelled`` as soon as ``event`` is set."""
    token = _CANCELLED.set(event)
    try:
        yield
    finally:
        _CANCELLED.reset(token)


def find_engine() -> tuple[str, str] | None:
    """(name, path) of the first engine on the ladder, or None."""
    path = shutil.which("dot")
    if path:
        return "dot", path
    beside = str(Path(sys.executable).parent)
    path = shutil.which("graphviz-pure") or shutil.which("graphviz-pure", path=beside)
    return ("graphviz-pure", path) if path else None


def lay_out(scene: Scene, timeout: float = TIMEOUT) -> Layout:
    """Lays a scene out with the best engine there is.

    Raises:
        LayoutTooSlow: the engine is there but did not answer within ``timeout`` seconds.
        LayoutCancelled: the event of :func:`cancelled_by` was set.
    """
    engine = find_engine()
    if engine is None:
        return _with_note(layered(scene), HINT)
    name, path = engine
    try:
        answer = _run(path, to_dot(scene), timeout)
    except subprocess.TimeoutExpired:
        raise LayoutTooSlow(f"{name} took longer than {timeout:g} s") from None
    except (OSError, subprocess.CalledProcessError) as error:
        return _with_note(layered(scene), f"{name} failed ({type(error).__name__}); {HINT}")
    try:
        return _read(json.loads(answer), scene, name)
    except (ValueError, KeyError, IndexError) as error:
        return _with_note(layered(scene), f"{name} answered oddly ({error}); {HINT}")


def _with_note(layout: Layout, note: str) -> Layout:
    return Layout(
        layout.width,
        layout.height,
        layout.boxes,
        layout.clusters,
        layout.routes,
        layout.engine,
        note,
    )


@functools.lru_cache(maxsize=64)
def _run(path: str, text: str, timeout: float) -> str:
    cancelled = _CANCELLED.get()
    deadline = time.monotonic() + timeout
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [path, "-Tjson0"], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
    ) as engine:
        _ENGINES.add(engine)
        sent: bytes | None = text.encode("utf-8")
        try:
            while True:
                left = deadline - time.monotonic()
                try:
                    answer, _ = engine.communicate(sent, min(left, _POLL) if cancelled else left)
                    break
                except subprocess.TimeoutExpired:
                    sent = None  # communicate remembers what it has not sent yet
                    if cancelled is not None and cancelled.is_set():
                        raise LayoutCancelled from None
                    if time.monotonic() >= deadline:
                        raise
        except BaseException:
            engine.kill()
            raise
        finally:
            _ENGINES.discard(engine)
    if engine.returncode:
        raise subprocess.CalledProcessError(engine.returncode, path)
    return answer.decode("utf-8")


def to_dot(scene: Scene, *, labels: bool = False) -> str:
    """DOT text of a scene: synthetic ids, the same bytes for the same scene.

    Without ``labels`` boxes are blanks of the right size, which is all a layout
    needs, so that no name from a model reaches the engine. With ``labels`` the
    text can be given to any Graphviz tool.
    """
    many = len(scene.edges) > _LIMIT_FROM
    limits = {"nslimit": "1", "nslimit1": "1", "mclimit": "0.5"} if many else {}
    digraph = graphviz.Digraph(
        graph_attr={
            **limits,
            "ranksep": "0.32",
            "nodesep": "0.22",
            "bgcolor": "transparent",
            "pad": "0",
            "compound": "true",
        },
        node_attr={"shape": "box", "fixedsize": "true", "label": ""},
        edge_attr={"arrowsize": "0.6", "weight": "4"},
    )
    if labels:
        digraph.attr("node", fontname="Helvetica", fontsize="11", style="rounded")
    children: dict[str, list[Cluster]] = {}
    boxes: dict[str, list[Box]] = {}
    for cluster in scene.clusters:
        children.setdefault(cluster.parent, []).append(cluster)
    for box in scene.boxes:
        boxes.setdefault(box.cluster, []).append(box)
    _write_group(digraph, "", children, boxes, labels)
    for index, edge in enumerate(scene.edges):
        attributes = {"id": f"e{index}"}
        if edge.dashed:
            attributes.update(style="dashed", weight="1")
        if edge.label and scene.labelled:
            attributes["label"] = (
                graphviz.escape(edge.label) if labels else _blank(*label_size(edge.label))
            )
        digraph.edge(edge.source, edge.target, **attributes)
    return digraph.source


def _write_group(
    digraph: graphviz.Digraph,
    parent: str,
    children: dict[str, list[Cluster]],
    boxes: dict[str, list[Box]],
    labels: bool,
) -> None:
    for box in boxes.get(parent, ()):
        width, height = box_size(box)
        text = "\n".join((box.title, *box.lines))
        digraph.node(
            box.id,
            label=_label(text) if labels else "",
            width=f"{width / _POINTS_PER_INCH:.4f}",
            height=f"{height / _POINTS_PER_INCH:.4f}",
        )
    for cluster in children.get(parent, ()):
        # Its stubs say Optional: with a name it is a context, given a graph it returns None.
        with digraph.subgraph(name=f"cluster_{cluster.id}") as inner:  # pyright: ignore
            title_width = 7.0 * len(cluster.title) + 30
            label = graphviz.escape(cluster.title) if labels else _blank(title_width, 12)
            inner.attr(label=label, labeljust="l", margin="10")
            _write_group(inner, cluster.id, children, boxes, labels)


def _label(text: str) -> str:
    """Text as a label of several lines: nothing in it is markup or an escape."""
    return graphviz.nohtml("\\n".join(str(graphviz.escape(line)) for line in text.split("\n")))


def _blank(width: float, height: float) -> str:
    """An HTML-like label that is an empty cell of fixed size."""
    return (
        f'<<table border="0" cellborder="0" cellspacing="0" cellpadding="0" fixedsize="true" '
        f'width="{width:.0f}" height="{height:.0f}"><tr><td></td></tr></table>>'
    )


def _read(answer: dict, scene: Scene, engine: str) -> Layout:
    """The engine's JSON in pixels, y downward."""
    _left, _bottom, width, height = _numbers(answer["bb"])

    def flip(point: Iterable[float]) -> Point:
        x, y = point
        return round(x + _MARGIN, 1), round(height - y + _MARGIN, 1)

    boxes: dict[str, Rect] = {}
    clusters: dict[str, Rect] = {}
    for item in answer.get("objects", ()):
        name = item["name"]
        if name.startswith("cluster_") and "bb" in item:
            x0, y0, x1, y1 = _numbers(item["bb"])
            left, top = flip((x0, y1))
            clusters[name.removeprefix("cluster_")] = Rect(
                left, top, round(x1 - x0, 1), round(y1 - y0, 1)
            )
        elif "pos" in item:
            w = float(item["width"]) * _POINTS_PER_INCH
            h = float(item["height"]) * _POINTS_PER_INCH
            x, y = flip(_numbers(item["pos"]))
            boxes[name] = Rect(round(x - w / 2, 1), round(y - h / 2, 1), round(w, 1), round(h, 1))
    routes = [_route(edge, flip) for edge in sorted(answer.get("edges", ()), key=_edge_number)]
    if len(routes) != len(scene.edges) or any(box.id not in boxes for box in scene.boxes):
        raise ValueError("parts of the picture are missing")
    return Layout(
        round(width + 2 * _MARGIN, 1),
        round(height + 2 * _MARGIN, 1),
        boxes,
        clusters,
        tuple(routes),
        engine,
    )


def _edge_number(edge: dict) -> int:
    return int(edge["id"][1:])


def _route(edge: dict, flip) -> Route:
    tip: Point | None = None
    points: list[Point] = []
    for part in edge["pos"].split():
        if part.startswith("e,"):
            tip = flip(_numbers(part[2:]))
        elif not part.startswith("s,"):
            points.append(flip(_numbers(part)))
    label = flip(_numbers(edge["lp"])) if "lp" in edge else None
    return Route(tuple(points), tip if tip is not None else points[-1], label)


def _numbers(text: str) -> list[float]:
    return [float(number) for number in text.split(",")]
