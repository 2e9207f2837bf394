"""Every view and every interaction, live, in JupyterLab and in Notebook 7.

One page per front end, opened once: the tests of a front end share it and each looks after the
view it needs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
from playwright.sync_api import Browser, Locator, expect

from onemodel.errors import TraceErrorKind
from onemodel.lessons import LESSONS
from tests.browser import harness
from tests.browser.view_cells import CELLS, STATE

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)]

ROUNDS = 50
NOTEBOOK_7 = ("reading 'schema'", "'filebrowser:open-path' not registered")
"""Page errors of Notebook 7 itself, met on an empty notebook as well."""
PLACES = {name: index for index, name in enumerate(CELLS)}


class Opened:
    """The page, its views, and what Python says of them."""

    def __init__(self, notebook: harness.NotebookPage, app: str, pictures: Path) -> None:
        self.notebook = notebook
        self.page = notebook.page
        self.app = app
        self.pictures = pictures

    def cell(self, name: str) -> Locator:
        return self.page.locator(".jp-CodeCell").nth(PLACES[name])

    def view(self, name: str, kind: str = "") -> Locator:
        found = self.cell(name).locator(f".om-{kind or name}-view").first
        found.scroll_into_view_if_needed()
        return found

    def python(self) -> dict[str, Any]:
        return json.loads(self.notebook.ask(STATE))

    def until(self, key: str, value: Any) -> None:
        """Waits for Python to hold ``value``: a click and its answer are two messages."""
        told = self.python()
        for _ in range(20):
            if told[key] == value:
                return
            self.page.wait_for_timeout(100)
            told = self.python()
        assert told[key] == value

    def picture(self, part: Locator, name: str) -> None:
        self.page.mouse.move(0, 0)
        part.screenshot(path=self.pictures / f"{self.app}-{name}.png")


@pytest.fixture(scope="module", params=["lab", "notebook"])
def opened(
    request: pytest.FixtureRequest,
    chromium: Browser,
    lab: harness.Lab,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Opened]:
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernelspec})
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS.values()]
    name = f"views_{request.param}.ipynb"
    nbformat.write(notebook, lab.notebooks / name)
    folder = Path(os.environ.get("PICTURES", tmp_path_factory.mktemp("pictures")))
    folder.mkdir(parents=True, exist_ok=True)
    context = chromium.new_context(viewport={"width": 1320, "height": 1100})
    watch = harness.Watch(lab.port)
    watch.guard(context)
    page = harness.NotebookPage(context.new_page(), watch)
    page.page.set_default_timeout(20_000)
    page.open(lab, name, request.param)
    page.run_all()
    here = Opened(page, request.param, folder)
    expect(here.view("graph").locator("g.om-node").first).to_be_visible(timeout=60_000)
    yield here
    page.save_picture(folder / f"{request.param}-last.png")
    context.close()


def node(view: Locator, name: str) -> Locator:
    return view.locator(f'g.om-node[data-name="{name}"]').first


def test_a_click_selects_and_the_inspector_answers(opened: Opened) -> None:
    view = opened.view("graph")
    view.get_by_role("button", name="Fit the whole graph (0)").click()
    node(view, "Concat").click()
    expect(view.locator(".om-inspector h4")).to_have_text("Concat")
    expect(view.locator(".om-inspector .om-expression")).to_contain_text("om.cat([x, x])")
    expect(view.locator("g.om-selected")).to_have_attribute("data-name", "Concat")
    opened.until("graph", "Concat")
    opened.picture(view, "graph")


def test_arrows_follow_edges_enter_opens_and_escape_clears(opened: Opened) -> None:
    view = opened.view("graph")
    view.get_by_role("button", name="Fold all modules").click()
    opened.until("expanded", [])
    node(view, "Concat").click()
    opened.page.keyboard.press("ArrowUp")
    folded = view.locator("g.om-selected")
    expect(folded).to_have_attribute("data-opens", "second")
    opened.page.keyboard.press("ArrowUp")
    expect(view.locator("g.om-selected")).to_have_attribute("data-opens", "first")
    opened.page.keyboard.press("Enter")
    expect(view.locator("g.om-cluster[data-key=first]")).to_have_count(1)
    opened.until("expanded", ["first"])
    view.locator(".om-stage").focus()
    opened.page.keyboard.press("Escape")
    expect(view.locator("g.om-selected")).to_have_count(0)
    opened.until("graph", "")


def test_keys_of_a_view_are_no_commands_of_the_notebook(opened: Opened) -> None:
    before = opened.page.locator(".jp-Cell").count()
    opened.view("graph").locator(".om-stage").focus()
    for key in ("a", "b", "d", "d", "x", "m", "y"):
        opened.page.keyboard.press(key)
    assert opened.page.locator(".jp-Cell").count() == before == len(CELLS)


def test_the_slash_searches_and_finds_what_is_folded(opened: Opened) -> None:
    view = opened.view("graph")
    view.get_by_role("button", name="Fold all modules").click()
    view.locator(".om-stage").focus()
    opened.page.keyboard.press("/")
    search = view.get_by_role("searchbox")
    expect(search).to_be_focused()
    opened.page.keyboard.type("gelu")
    expect(view.locator(".om-found")).to_have_text("2 found")
    expect(view.locator("g.om-match").first).to_be_visible()
    opened.until("query", "gelu")
    opened.page.keyboard.press("Escape")
    expect(view.locator(".om-found")).to_have_text("")
    opened.until("query", "")


def test_a_module_opens_by_its_plus_and_closes_by_its_minus(opened: Opened) -> None:
    view = opened.view("graph")
    view.get_by_role("button", name="Fold all modules").click()
    opened.until("expanded", [])
    view.get_by_role("button", name="Fit the whole graph (0)").click()
    view.locator('g.om-node[data-opens="second"] .om-open').click()
    cluster = view.locator("g.om-cluster[data-key=second]")
    expect(cluster).to_have_count(1)
    expect(view.locator('g.om-node[data-name*="second"]').first).to_be_visible()
    opened.until("expanded", ["second"])
    view.locator(".om-cluster-head[data-key=second] .om-fold").click()
    expect(cluster).to_have_count(0)
    opened.until("expanded", [])


def test_a_hovered_atom_marks_every_axis_that_carries_it(opened: Opened) -> None:
    view = opened.view("axes")
    chip = view.locator(".om-atoms [data-atom]").first
    carried = view.locator('[data-atoms~="0"]').count()
    assert carried > 8
    chip.hover()
    expect(view.locator(".om-lit")).to_have_count(carried)
    view.screenshot(path=opened.pictures / f"{opened.app}-axes.png")
    view.locator("h3").first.hover()
    expect(view.locator(".om-lit")).to_have_count(0)


def test_a_slider_moves_shapes_and_memory_and_checks_eager_again(opened: Opened) -> None:
    view = opened.view("axes")
    slider = view.get_by_role("slider", name="Size of batch")
    before = view.locator(".om-memory").inner_text()
    slider.focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("ArrowRight")
    status = view.locator("[role=status]")
    expect(status).to_contain_text("batch = 5: eager and session agree on all")
    expect(view.locator(".om-chip .om-size", has_text="10").first).to_be_visible()
    assert view.locator(".om-memory").inner_text() != before
    opened.until("sizes", {"batch": 5})


def test_a_planted_difference_is_selected_at_once(opened: Opened) -> None:
    view = opened.view("diff")
    told = opened.python()
    assert told["planted"]
    selected = view.locator("tr.om-selected")
    expect(selected).to_have_count(1)
    expect(selected).to_contain_text("Gelu")
    expect(selected).to_contain_text("introduced here")
    assert selected.get_attribute("data-name") == told["diff"] != ""
    view.get_by_role("checkbox").check()
    expect(view.locator("tr[data-name]:not([hidden])")).to_have_count(
        view.locator('tr[data-state]:not([data-state="agrees"])').count()
    )
    view.get_by_role("checkbox").uncheck()
    opened.picture(view, "diff")


def test_a_row_chosen_by_keyboard_is_chosen_in_python(opened: Opened) -> None:
    view = opened.view("diff")
    row = view.locator("tr[data-name]").nth(2)
    row.click()
    opened.page.keyboard.press("ArrowDown")
    below = view.locator("tr[data-name]").nth(3)
    expect(below).to_have_attribute("aria-selected", "true")
    opened.until("diff", below.get_attribute("data-name"))
    view.get_by_role("button", name="Select the node that introduces a difference").click()
    expect(view.locator("tr.om-first")).to_have_attribute("aria-selected", "true")


def test_a_selection_in_one_tab_is_a_selection_in_all(opened: Opened) -> None:
    bench = opened.view("bench", "workbench")
    expect(bench.locator(".om-graph-view g.om-introduced")).to_have_count(1)
    opened.picture(bench, "workbench")
    bench.get_by_role("tab", name="Axes").click()
    row = bench.locator(".om-axes-view tr", has_text="Concat")
    row.click()
    opened.until("bench", "Concat")
    bench.get_by_role("tab", name="Comparison").click()
    chosen = bench.locator(".om-diff-view tr.om-selected")
    expect(chosen).to_have_attribute("data-name", "Concat")
    bench.get_by_role("tab", name="Graph").click()
    expect(bench.locator(".om-graph-view g.om-selected")).to_have_attribute("data-name", "Concat")


def test_another_opset_is_drawn_beside_the_first(opened: Opened) -> None:
    bench = opened.view("bench", "workbench")
    bench.get_by_role("tab", name="Opsets").click()
    opsets = bench.locator(".om-opset-view")
    opsets.locator("select").select_option("13")
    expect(opsets.locator('.om-side-other g.om-node[data-name*="Erf"]').first).to_be_attached()
    expect(opsets.locator('tr[data-state="differs"]')).to_have_count(4)
    opened.until("opset", 13)
    opened.picture(bench, "opsets")
    bench.get_by_role("tab", name="Graph").click()


def test_each_of_the_six_kinds_marks_its_call(opened: Opened) -> None:
    cards = opened.cell("refused").locator(".om-error-view")
    expect(cards).to_have_count(len(TraceErrorKind))
    kinds = set()
    for card, code in zip(
        cards.all(), ("OM101", "OM201", "OM301", "OM401", "OM520", "OM601"), strict=True
    ):
        marked = next(s for s in LESSONS[code].failing.splitlines() if "# <-" in s)
        offence = card.locator(".om-here .om-offence").first
        assert offence.inner_text().strip() in marked
        assert offence.evaluate("el => getComputedStyle(el).textDecorationLine") == "underline"
        kinds.add(card.locator(".om-kind").inner_text())
    assert len(kinds) == len(TraceErrorKind)
    opened.picture(cards.first, "error")


def test_hostile_names_are_only_text(opened: Opened) -> None:
    cell = opened.cell("hostile")
    expect(cell.locator(".om-graph-view")).to_have_count(2)
    assert cell.locator("script, img, iframe, a[href]").count() == 0
    assert opened.page.evaluate("document.querySelectorAll('[onerror],[onload]').length") == 0
    assert cell.evaluate("el => el.scrollWidth <= el.clientWidth + 1")
    opened.picture(cell.locator(".om-graph-view").first, "hostile")


def test_opening_a_large_module_is_told_while_its_layout_runs(opened: Opened) -> None:
    view = opened.view("big", "graph")
    view.locator('g.om-node[data-opens="block_2"] .om-open').click()
    expect(view.locator("g.om-cluster[data-key=block_2]")).to_have_count(1, timeout=30_000)
    expect(view.locator(".om-stage")).to_have_attribute("aria-busy", "false")
    told = opened.python()["waited"]
    assert told
    assert told[0].startswith("Laying out ")
    assert told[-1] == ""


def test_a_heavy_graph_is_first_seen_folded_and_then_as_wanted(opened: Opened) -> None:
    view = opened.view("first", "graph")
    expect(view.locator("g.om-node[data-opens=block_3]")).to_have_count(1)
    expect(view.locator(".om-stage")).to_have_attribute("aria-busy", "true")
    expect(view.get_by_role("status")).to_contain_text("Laying out ")
    expect(view.get_by_role("button", name="Keep the picture as it is")).to_be_visible()
    opened.picture(view, "first")
    opened.notebook.ask("answer.set()")
    expect(view.locator("g.om-cluster[data-key=block_3]")).to_have_count(1)
    expect(view.locator("g.om-node[data-opens=block_3]")).to_have_count(0)
    expect(view.locator(".om-stage")).to_have_attribute("aria-busy", "false")


def test_the_picture_is_saved_as_an_svg_file_that_carries_its_style(opened: Opened) -> None:
    view = opened.view("graph")
    with opened.page.expect_download() as download:
        view.get_by_role("button", name="Save the picture as SVG").click()
    path = opened.pictures / f"{opened.app}-saved.svg"
    download.value.save_as(path)
    root = ElementTree.parse(path).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "--om-" in "".join(root.itertext())
    with opened.page.expect_download() as download:
        view.get_by_role("button", name="Save the picture as PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("theme, light", [("JupyterLab Dark", False), ("JupyterLab Light", True)])
def test_views_follow_the_theme(opened: Opened, theme: str, light: bool) -> None:
    opened.notebook.command("apputils:change-theme", theme=theme)
    body = opened.page.locator(f"body[data-jp-theme-light={str(light).lower()}]")
    body.wait_for(state="attached")
    for name, kind in (("graph", ""), ("axes", ""), ("diff", ""), ("bench", "workbench")):
        view = opened.view(name, kind)
        ground, text = view.evaluate(
            "el => [getComputedStyle(el).backgroundColor, getComputedStyle(el).color]"
        )
        assert (brightness(ground) > brightness(text)) is light
        assert abs(brightness(ground) - brightness(text)) > 120
        if not light:
            opened.picture(view, f"dark-{name}")


def brightness(colour: str) -> float:
    """0 to 255, of ``rgb(...)``."""
    red, green, blue = (float(c) for c in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.3 * red + 0.59 * green + 0.11 * blue


def test_fifty_rounds_of_open_and_close_leave_nothing_behind(opened: Opened) -> None:
    """Widgets of the kernel and elements of the page, after the views of a round are gone."""
    elements = "document.getElementsByTagName('*').length"
    seen = []
    for count in range(1, ROUNDS + 1):
        opened.notebook.run_cell(PLACES["round"])
        expect(opened.cell("round").locator(".om-view").first).to_be_attached()
        if count % 3 == 0:
            seen.append(opened.page.evaluate(elements))
    counts = opened.python()["widgets"]
    assert len(counts) >= ROUNDS
    assert len(set(counts[3::3])) == 1, counts
    assert max(seen[2:]) - min(seen[2:]) < 200, seen


def test_nothing_was_asked_of_another_machine_and_nothing_complained(opened: Opened) -> None:
    watch = opened.notebook.watch
    assert watch.foreign == []
    theirs = NOTEBOOK_7 if opened.app == "notebook" else ()
    assert [c for c in watch.complaints() if not any(text in c for text in theirs)] == []
