"""The tour as a person meets it: opened in JupyterLab, run, clicked, read."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, expect

from onemodel.errors import TraceErrorKind
from scripts import workbench
from tests.browser import harness

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CHECK = "print('selected:', view.selected)"


@pytest.fixture
def tour(lab: harness.Lab) -> str:
    """A copy of the tour with one more cell, which prints what Python holds as selected."""
    notebook = nbformat.read(workbench.TOUR, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.cells.append(nbformat.v4.new_code_cell(CHECK))
    nbformat.write(notebook, lab.notebooks / "tour.ipynb")
    return "tour.ipynb"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where pictures go: the folder that the variable ``PICTURES`` names, else the test's own."""
    folder = Path(os.environ.get("PICTURES", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.timeout(600)
def test_the_tour_runs_and_a_click_on_a_node_reaches_python(
    lab: harness.Lab, notebook_page: harness.NotebookPage, tour: str, pictures: Path
) -> None:
    notebook_page.open(lab, tour)
    notebook_page.run_all()
    page = notebook_page.page

    graph = page.locator(".om-graph-view").first
    node = graph.locator('g.om-node[data-name$="Conv"]').first
    expect(node).to_be_visible(timeout=60_000)
    graph.get_by_role("button", name="Fit").click()  # the tour has zoomed to a node of its own
    name = node.get_attribute("data-name")
    assert notebook_page.run_last_cell().strip() != f"selected: {name}"
    node.click()
    assert notebook_page.run_last_cell().strip() == f"selected: {name}"

    # One card for each of the six kinds, each with the call marked in the user's own line.
    cards = page.locator(".om-error-view")
    expect(cards).to_have_count(len(TraceErrorKind))
    for card in cards.all():
        line = card.locator(".om-here").first.inner_text()
        offence = card.locator(".om-here .om-offence").first
        assert offence.inner_text().strip()
        assert offence.inner_text() in line
        assert offence.evaluate("el => getComputedStyle(el).textDecorationLine") == "underline"
    assert cards.first.locator(".om-offence").first.inner_text() == "image.max() > 1"

    page.mouse.move(0, 0)  # nothing is hovered in a picture
    for part, name in ((graph, "graph.png"), (cards.first, "error.png")):
        part.scroll_into_view_if_needed()
        part.screenshot(path=pictures / name)
        assert (pictures / name).stat().st_size > 10_000
    assert notebook_page.watch.complaints() == []


def test_the_page_of_the_headless_tour_shows_its_pictures_without_any_network(
    chromium: Browser, tmp_path: Path
) -> None:
    assert workbench.run_headless(workbench.TOUR, tmp_path) == 0
    context = chromium.new_context(offline=True)
    watch = harness.Watch(port=0)
    watch.guard(context)
    page = context.new_page()
    page.goto((tmp_path / "00_tour.html").as_uri())
    expect(page.locator("svg g.om-node").first).to_be_visible()
    expect(page.locator(".om-offence").first).to_be_visible()
    assert page.locator("img.om-raster").count() == page.locator("svg.om-svg").count() > 0
    for fallback in page.locator("img.om-raster").all():  # the SVG is there, so its PNG is not
        expect(fallback).to_be_hidden()
    assert watch.foreign == []
    context.close()
