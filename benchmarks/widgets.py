"""How long a reader waits: first pictures, highlights, a cell in the browser, every value compared.

    python -m benchmarks.widgets [--browser]

Wall-clock seconds, the least of a few rounds, since a layout runs in a process of its own and the
reader waits for that as well. Every round starts cold: answers of the layout engine are forgotten.
`--browser` also runs a cell in JupyterLab in a headless Chromium.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import onnx
import onnxruntime
from playwright.sync_api import Page, sync_playwright

import onemodel as om
from benchmarks.harness import Result, machine, measure
from onemodel import nn
from onemodel_widgets import GraphView, Workbench
from onemodel_widgets.views import dot, raster
from tests.browser import harness
from tests.widgets import samples

ROOT = Path(__file__).resolve().parents[1]
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
DENSENET = LIGHT / "light_densenet121.onnx"
CELL = """
from onemodel_widgets import GraphView
from tests.widgets import samples
GraphView(samples.chain(200, scopes=10), budget=400)
"""


@dataclass(frozen=True)
class Wait:
    """One thing a reader waits for, and the seconds it should stay below."""

    name: str
    seconds: float
    goal: float
    note: str = ""

    def __str__(self) -> str:
        verdict = "ok" if self.seconds <= self.goal else "MISSED"
        return (
            f"{self.name:<58} {self.seconds:8.3f} s  goal {self.goal:g} s  {verdict}  {self.note}"
        )


def least(action: Callable[[], Any], rounds: int = 3) -> float:
    """Seconds of the quickest of some cold rounds."""
    spent = []
    for _ in range(rounds):
        dot._run.cache_clear()
        raster.png.cache_clear()
        start = time.perf_counter()
        action()
        spent.append(time.perf_counter() - start)
    return min(spent)


def pictures() -> Iterator[Wait]:
    """A view made and all of its static forms rendered, as at the end of a cell."""
    made: list[tuple[str, Callable[[], GraphView], float]] = [
        ("200 nodes, all open", lambda: GraphView(samples.chain(200, scopes=10), budget=400), 1.0),
        ("densenet121 with its constants, from the file", lambda: GraphView(DENSENET), 2.0),
        ("transformer of 29 layers", lambda: GraphView(samples.encoder(29)), 2.0),
        ("10,000 nodes in a chain", lambda: GraphView(samples.chain(10_000)), 2.0),
        ("10,000 nodes in 100 modules", lambda: GraphView(samples.chain(10_000, scopes=100)), 2.0),
        ("10,000 nodes that read each other", lambda: GraphView(samples.tangle(10_000, 2)), 2.0),
        ("150 nodes that read all before them", lambda: GraphView(samples.tangle(150, 150)), 2.0),
    ]
    for name, make, goal in made:
        kept: list[GraphView] = []

        def show(make: Callable[[], GraphView] = make, kept: list[GraphView] = kept) -> None:
            view = make()
            view._repr_mimebundle_()
            kept.append(view)

        seconds = least(show)
        view = kept[-1]
        note = f"{len(view.visible)} boxes, {view._picture.layout.engine}"
        yield Wait(f"first picture: {name}", seconds, goal, note)
        for view in kept:
            view.close()


def images() -> Iterator[Wait]:
    """What the PNG alone adds to a first picture."""
    made: list[tuple[str, GraphView]] = [
        ("a CNN of 8 nodes", GraphView(samples.cnn())),
        ("transformer of 29 layers", GraphView(samples.encoder(29))),
        ("200 nodes, all open", GraphView(samples.chain(200, scopes=10), budget=400)),
    ]
    for name, view in made:
        drawn = view.to_html()
        seconds = least(lambda drawn=drawn: raster.with_fallbacks(drawn))
        yield Wait(f"PNG: {name}", seconds, 0.3, f"{len(view.to_png()) / 1000:.0f} kB")
        view.close()


def highlights() -> Iterator[Wait]:
    """What Python does for a highlight, a selection and a search; the page toggles classes."""
    view = GraphView(samples.encoder(29))
    keys = view.node_names

    def one(change: Callable[[int], None]) -> float:
        rounds = 50
        start = time.perf_counter()
        for index in range(rounds):
            change(index)
        return (time.perf_counter() - start) / rounds

    def highlight(index: int) -> None:
        view.highlight = keys[index : index + 20]

    def select(index: int) -> None:
        view.selected = view.visible[index % len(view.visible)]

    def search(index: int) -> None:
        view.query = ("MatMul", "norm", "softmax", "layers.7")[index % 4]

    for name, change in (("20 nodes highlighted", highlight), ("a visible node selected", select),
                         ("a search typed", search)):  # fmt: skip
        yield Wait(f"transformer of 29 layers: {name}", one(change), 0.05)
    view.close()


def comparison() -> Result:
    """Every value of 40 layers in three engines, against making and running each of them once."""
    om.manual_seed(0)
    layers = [m for _ in range(40) for m in (nn.Linear(256, 256), nn.ReLU())]
    model = nn.Sequential(*layers).eval()
    x = np.random.default_rng(0).standard_normal((64, 256), dtype=np.float32)
    traced = om.trace(model, om.tensor(x), axes=[{0: "batch"}])
    feeds = {traced.inputs[0].name: x}

    def plain() -> None:
        model(om.tensor(x))
        om.Session(traced).run(feeds)
        onnxruntime.InferenceSession(traced.to_bytes()).run(None, feeds)

    return measure(
        "every value of a 40-layer MLP in three engines",
        lambda: om.compare(traced, feeds),
        plain,
        "making and running each engine once",
        3,
        rounds=5,
        seconds=0.1,
    )


def workbench() -> Wait:
    """All four views of a small trace at once."""
    om.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    traced = om.trace(model, om.zeros(3, 8), axes=[{0: "batch"}])
    return Wait("workbench of 3 nodes, compared in three engines",
                least(lambda: Workbench(traced).close()), 1.0)  # fmt: skip


def in_the_browser() -> Iterator[Wait]:
    """From pressing run to the picture in the page, in a warm kernel; then a highlight there."""
    executable = harness.find_chromium()
    if executable is None:
        print("no Chromium: the browser is left out")
        return
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernelspec})
    notebook.cells = [nbformat.v4.new_code_cell(CELL)]
    with (
        tempfile.TemporaryDirectory() as folder,
        harness.running_lab(Path(folder), [ROOT, ROOT / "widgets"]) as lab,
        sync_playwright() as playwright,
    ):
        nbformat.write(notebook, lab.notebooks / "cell.ipynb")
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(harness.CHROMIUM_FLAGS)
        )
        context = browser.new_context(viewport={"width": 1320, "height": 1100})
        opened = harness.NotebookPage(context.new_page(), harness.Watch(lab.port))
        opened.open(lab, "cell.ipynb")
        opened.run_cell(0)  # imports, and the front end's own first time
        opened.page.locator("g.om-node").first.wait_for()
        yield Wait("in JupyterLab: cell run to picture, 200 nodes", _cell(opened), 1.0)
        yield Wait("in JupyterLab: click to marked node, 200 nodes", _click(opened.page), 0.05)
        browser.close()


def _cell(opened: harness.NotebookPage) -> float:
    spent = []
    for _ in range(3):
        opened.page.evaluate("document.querySelectorAll('.om-view').forEach(e => e.remove())")
        start = time.perf_counter()
        opened.run_cell(0)
        opened.page.locator("g.om-node").first.wait_for()
        spent.append(time.perf_counter() - start)
    return min(spent)


def _click(page: Page) -> float:
    """Milliseconds measured in the page: class there and drawn, in the next frame."""
    return page.evaluate(
        """async () => {
            const spent = [];
            for (const node of [...document.querySelectorAll("g.om-node")].slice(1, 9)) {
                const start = performance.now();
                node.dispatchEvent(new MouseEvent("click", { bubbles: true }));
                await new Promise((done) => requestAnimationFrame(done));
                if (node.classList.contains("om-selected")) spent.push(performance.now() - start);
            }
            return Math.min(...spent) / 1000;
        }"""
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long a reader waits.")
    parser.add_argument("--browser", action="store_true", help="also measure in JupyterLab")
    options = parser.parse_args()
    print(f"{machine()}; layout: {(dot.find_engine() or ('plain',))[0]}", flush=True)
    for wait in pictures():
        print(wait, flush=True)
    for wait in (*images(), *highlights(), workbench()):
        print(wait, flush=True)
    compared = comparison()
    verdict = "ok" if compared.met else "MISSED"
    print(f"{compared.name}: {compared.ratio:.2f} x {compared.against}, goal 3 x  {verdict}")
    if options.browser:
        for wait in in_the_browser():
            print(wait, flush=True)


if __name__ == "__main__":
    main()
