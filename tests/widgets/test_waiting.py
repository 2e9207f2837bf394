"""A large layout runs aside: it is told and can be cancelled; Python's own calls wait for it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from onemodel_widgets import GraphView
from onemodel_widgets.views import dot
from onemodel_widgets.views import graph as views_graph
from onemodel_widgets.views.layout import layered
from onemodel_widgets.views.scene import make_scene, outline
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
    monkeypatch.setattr(views_graph, "QUICK", 2)
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
    scene = make_scene(outline(samples.cnn()), ())
    start = time.monotonic()
    with pytest.raises(dot.LayoutTooSlow):
        dot.lay_out(scene, timeout=0.5)
    assert time.monotonic() - start < 10


@pytest.fixture
def weighty(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """An engine that thinks about more than 20 boxes for a second; the boxes it was given."""
    given: list[int] = []

    def lay_out(scene, timeout=dot.TIMEOUT):
        given.append(len(scene.boxes))
        if len(scene.boxes) <= 20:
            return layered(scene)
        cancelled = dot._CANCELLED.get()
        if cancelled is not None and cancelled.wait(1.0):
            raise dot.LayoutCancelled
        return layered(scene)

    monkeypatch.setattr(views_graph, "lay_out", lay_out)
    monkeypatch.setattr(views_graph, "QUICK", 60)
    return given


def test_the_first_picture_of_a_weighty_graph_is_a_coarser_one_and_the_wanted_one_follows(weighty):
    async def cell() -> GraphView:
        start = time.monotonic()
        view = GraphView(samples.chain(60, scopes=6), budget=100)
        assert time.monotonic() - start < 0.9
        assert weighty[0] <= 20
        assert view.laying_out.startswith("Laying out ")
        assert "block_5" in view.visible
        assert "op_59" not in view.visible
        static = view._repr_mimebundle_()[0]
        assert "block_5" in static["text/html"]
        assert static["image/png"]
        # The thread alone has asked for the whole; the static form waits for nothing.
        assert len([boxes for boxes in weighty if boxes > 20]) <= 1
        assert view.expanded == [f"block_{n}" for n in range(6)]
        await until(lambda: not view.laying_out)
        return view

    view = alone(cell())
    assert max(weighty) > 60
    assert "op_59" in view.visible
    assert "op_59" in view.to_html()
    assert view.expanded == [f"block_{n}" for n in range(6)]
    view.close()


def test_a_cancel_keeps_the_coarser_first_picture(weighty):
    async def cell() -> GraphView:
        view = GraphView(samples.chain(60, scopes=6), budget=100)
        opened_by_the_page(view, cancel_wanted=1)
        await until(lambda: not view.laying_out)
        return view

    view = alone(cell())
    assert view.expanded == []
    assert "op_59" not in view.visible
    assert view.status.startswith("Cancelled")


def test_a_view_closed_before_its_first_layout_is_done_hears_no_more_of_it(weighty):
    async def cell() -> GraphView:
        view = GraphView(samples.chain(60, scopes=6), budget=100)
        view.close()
        before = view.svg
        await until(lambda: not any(t.name == "layout" for t in threading.enumerate()))
        await asyncio.sleep(0.05)
        assert view.svg == before
        return view

    assert alone(cell()).laying_out == ""


def test_a_script_waits_for_the_picture_it_asked_for(weighty):
    view = GraphView(samples.chain(60, scopes=6), budget=100)
    assert not view.laying_out
    assert "op_59" in view.visible


def test_what_python_opens_in_a_kernel_is_drawn_plainly_until_its_layout_is_done(weighty):
    async def cell() -> GraphView:
        view = GraphView(samples.chain(200, scopes=4), budget=10)
        start = time.monotonic()
        view.expand("block_1")
        assert time.monotonic() - start < 0.9
        assert "op_99" in view.visible
        assert view.laying_out
        await until(lambda: not view.laying_out)
        return view

    assert "op_99" in alone(cell()).visible


def test_an_engine_that_never_answers_does_not_hold_up_a_cell(slow_engine):
    async def cell() -> GraphView:
        start = time.monotonic()
        view = GraphView(samples.cnn())
        assert time.monotonic() - start < 2.0 + 1.0  # the machine's share
        assert view._picture.layout.engine == "plain"
        assert view.laying_out
        view.close()
        return view

    assert slow_engine.parent.exists()
    alone(cell())


EXITS = """
import asyncio, pathlib, sys, time
from onemodel_widgets import GraphView
from onemodel_widgets.views import dot, graph
from tests.widgets import samples

folder = pathlib.Path(sys.argv[1])
dot.find_engine = lambda: ("slow", str(folder / "engine"))
graph.QUICK = 5

async def cell():
    view = GraphView(samples.chain(60, scopes=6), budget=100)
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        await asyncio.sleep(0.02)

asyncio.run(cell())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the slow engine is a script")
def test_an_engine_ends_with_the_interpreter(tmp_path):
    engine = tmp_path / "engine"
    engine.write_text(
        f"#!{sys.executable}\nimport os, pathlib, sys, time\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "sys.stdin.read()\ntime.sleep(60)\n"
    )
    engine.chmod(0o755)
    subprocess.run([sys.executable, "-c", EXITS, str(tmp_path)], check=True, timeout=60)
    pid = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether the process does something yet; nobody may have asked a dead one for its status."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
