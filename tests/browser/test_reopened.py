"""A notebook that somebody sent: not trusted, nothing run, no kernel. Its pictures are seen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, expect

from onemodel_widgets import AxesView, DiffView, ErrorView, GraphView, Workbench
from tests.browser import harness
from tests.widgets import samples
from tests.widgets.test_static_views import hostile_report, refusal

pytestmark = [pytest.mark.browser, pytest.mark.slow]

VIEWS: dict[str, Callable[[], Any]] = {
    "graph": lambda: GraphView(samples.cnn(), selected="conv1"),
    "error": lambda: ErrorView(refusal(partial=samples.cnn())),
    "workbench": lambda: Workbench(samples.cnn()),
    "hostile": lambda: GraphView(samples.hostile()),
    "axes": lambda: AxesView(samples.cnn()),
    "diff": lambda: DiffView(hostile_report()),
}
PICTURED = ("graph", "error", "workbench", "hostile")
KERNEL_GONE = "Canceled future"
"""What the page says of a question to the kernel that was shut down in the middle of it."""

NOTEBOOK_7 = ("reading 'schema'", "'filebrowser:open-path' not registered")


def saved() -> Any:
    """A notebook with the bundles of all views and an image alone, as a kernel had written it."""
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernelspec})
    bundles = {}
    for name, make in VIEWS.items():
        view = make()
        bundles[name] = view._repr_mimebundle_()[0]
        view.close()
    bundles["image"] = {"image/png": bundles["graph"]["image/png"], "text/plain": "graph"}
    for number, (name, bundle) in enumerate(bundles.items(), 1):
        output = nbformat.v4.new_output("execute_result", data=bundle, execution_count=number)
        cell = nbformat.v4.new_code_cell(f"# {name}", execution_count=number, outputs=[output])
        notebook.cells.append(cell)
    return notebook


def is_drawn(image: Locator) -> bool:
    """Whether the browser has decoded the image and shows it in a size one can read."""
    return image.evaluate("e => e.complete && e.naturalWidth > 50 && e.clientWidth > 50")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_an_untrusted_notebook_shows_every_picture_without_a_kernel(
    chromium: Browser, lab: harness.Lab, app: str, tmp_path: Path
) -> None:
    name = f"sent_{app}.ipynb"
    nbformat.write(saved(), lab.notebooks / name)
    context = chromium.new_context(viewport={"width": 1320, "height": 1100})
    watch = harness.Watch(lab.port)
    watch.guard(context)
    notebook = harness.NotebookPage(context.new_page(), watch)
    notebook.open(lab, name, app)
    page = notebook.page
    page.evaluate("window.jupyterapp.shell.currentWidget.context.sessionContext.shutdown()")
    assert page.evaluate(
        "[...window.jupyterapp.shell.currentWidget.content.model.cells].every(c => !c.trusted)"
    )
    folder = Path(os.environ.get("PICTURES", tmp_path))
    for index, kind in enumerate((*VIEWS, "image")):
        cell = page.locator(".jp-CodeCell").nth(index).locator(".jp-OutputArea")
        cell.scroll_into_view_if_needed()
        if kind == "image":
            assert is_drawn(cell.locator("img"))
            continue
        expect(cell.locator("h3, .om-kind, .om-message").first).to_be_visible()
        if kind in PICTURED:
            image = cell.locator("img").first
            expect(image).to_be_visible()
            assert is_drawn(image)
            # The words of the stripped SVG, which ran into one another, are out of sight.
            assert "Softmax" not in cell.inner_text() or kind == "workbench"
            expect(cell.locator(".om-vector").first).to_be_hidden()
        else:
            expect(cell.locator("table tbody tr").first).to_be_visible()
        if kind == "graph":
            expect(cell.locator(".om-head")).to_contain_text("8 nodes 6 boxes shown")
        assert cell.locator("script").count() == 0
        cell.screenshot(path=folder / f"sent-{app}-{kind}.png")
    theirs = (KERNEL_GONE, *(NOTEBOOK_7 if app == "notebook" else ()))
    assert [c for c in watch.complaints() if not any(text in c for text in theirs)] == []
    context.close()
