"""A large layout runs aside: it is told and can be cancelled; Python's own calls wait for it."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onemodel_widgets import GraphView, graph
from onemodel_widgets.views import dot
from onemodel_widgets.views.scene import outline
from tests.widgets import samples


def alone(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """``asyncio.run`` on a thread of its own: a browser test before may hold this one's loop."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def slow_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An engine that reads a graph and never answers; it notes that it was started."""
    started = tmp_path / "started"
    engine = tmp_path / "engine"
    engine.write_text(
        f"#!{sys.executable}\nimport pathlib, sys, time\n"
        f"pathlib.Path({str(started)!r}).touch()\nsys.stdin.read()\ntime.sleep(60)\n"
    )
    engine.chmod(0o755)
    monkeypatch.setattr(dot, "find_engine", lambda: ("slow", str(engine)))
    monkeypatch.setattr(dot, "TIMEOUT", 30.0)
    return started


def opened_by_the_page(view: GraphView, **changes: object) -> None:
    view.set_state(changes)


async def until(condition, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def large(monkeypatch: pytest.MonkeyPatch) -> GraphView:
    monkeypatch.setattr(graph, "QUICK", 2)
    view = GraphView(samples.chain(60, scopes=6), budget=10)
    assert view.expanded == []
    return view


def test_a_large_layout_is_told_and_a_cancel_keeps_the_picture(monkeypatch, request):
    view = large(monkeypatch)
    before, opened = view.svg, list(view.expanded)
    started = request.getfixturevalue("slow_engine")

    async def reader() -> None:
        opened_by_the_page(view, expanded=["block_1"])
        assert view.laying_out.startswith("Laying out ")
        await until(started.exists)
        assert view.svg == before
        opened_by_the_page(view, cancel_wanted=1)
        await until(lambda: not view.laying_out)

    alone(reader())
    assert view.svg == before
    assert view.expanded == opened
    assert view.status.startswith("Cancelled")


def test_a_layout_that_ends_is_shown(monkeypatch):
    view = large(monkeypatch)

    async def reader() -> None:
        opened_by_the_page(view, expanded=["block_1"])
        assert view.laying_out
        await until(lambda: not view.laying_out)

    alone(reader())
    assert "op_11" in view.visible
    assert view.selected_node is None


def test_closing_a_view_ends_its_layout(monkeypatch, request):
    view = large(monkeypatch)
    started = request.getfixturevalue("slow_engine")

    async def reader() -> None:
        opened_by_the_page(view, expanded=["block_1"])
        await until(started.exists)
        view.close()
        await until(lambda: not any(t.name == "layout" for t in threading.enumerate()))

    alone(reader())


def test_what_python_opens_is_there_on_the_next_line_even_in_a_kernel(monkeypatch):
    view = large(monkeypatch)

    async def cell() -> list[str]:
        view.expand("block_1")
        return view.visible

    assert "op_11" in alone(cell())


def test_an_engine_that_is_too_slow_is_given_up_in_time(slow_engine):
    scene = graph.make_scene(outline(samples.cnn()), ())
    start = time.monotonic()
    with pytest.raises(dot.LayoutTooSlow):
        dot.lay_out(scene, timeout=0.5)
    assert time.monotonic() - start < 10
