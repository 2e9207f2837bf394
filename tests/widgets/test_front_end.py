"""The front end in a bare page: the widget's own module over a model that answers from Python.

No Jupyter: a stand-in for the widget manager passes traits to the real Python
widget and brings back what changed, so that a click here is a whole round trip.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import onemodel as om
from onemodel_widgets import AxesView, DiffView, ErrorView, GraphView, Workbench
from onemodel_widgets.shell import View
from tests.browser import harness
from tests.widgets import samples
from tests.widgets.test_static_views import hostile_report, planted, refusal
from tests.widgets.test_widgets import X, net

playwright = pytest.importorskip("playwright.sync_api")

pytestmark = pytest.mark.browser

MODEL = """
async ([name, state, source]) => {
  const listeners = {};
  const model = {
    state,
    pending: {},
    get: (key) => model.state[key],
    set(key, value) { model.state[key] = value; model.pending[key] = value; model.fire(key); },
    on(event, action) { (listeners[event] ||= new Set()).add(action); },
    off(event, action) { listeners[event]?.delete(action); },
    fire(key) { for (const action of [...(listeners[`change:${key}`] || [])]) action(); },
    async save_changes() {
      const sent = model.pending;
      model.pending = {};
      const changed = JSON.parse(await window.toPython(name, JSON.stringify(sent)));
      model.receive(changed);
    },
    receive(changed) {
      Object.assign(model.state, changed);
      for (const key of Object.keys(changed)) model.fire(key);
    },
    count: () => Object.values(listeners).reduce((sum, set) => sum + set.size, 0),
  };
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const widget = (await import(url)).default;
  const el = document.createElement("div");
  el.id = name;
  document.body.append(el);
  window.models = { ...window.models, [name]: model };
  window.stops = { ...window.stops, [name]: await widget.render({ model, el }) };
}
"""


class Stage:
    """Widgets mounted in one page."""

    def __init__(self, page) -> None:
        self.page = page
        self.widgets: dict[str, View] = {}
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._on_console)
        page.on("dialog", self._on_dialog)
        page.expose_function("toPython", self._to_python)

    def _on_console(self, message) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def _on_dialog(self, dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _to_python(self, name: str, sent: str) -> str:
        widget = self.widgets[name]
        before = self._state(widget)
        widget.set_state(json.loads(sent))
        after = self._state(widget)
        return json.dumps({key: after[key] for key in after if after[key] != before[key]})

    @staticmethod
    def _state(widget: View) -> dict:
        hidden = ("layout", "tabbable", "tooltip")
        state = widget.get_state([key for key in widget.keys if key not in hidden])
        return json.loads(json.dumps(state))

    def mount(self, widget: View, name: str = "one"):
        self.widgets[name] = widget
        state = self._state(widget)
        source = state.pop("_esm")
        self.page.add_style_tag(content=state.pop("_css"))
        self.page.evaluate(MODEL, [name, state, source])
        return self.page.locator(f"#{name}")

    def push(self, name: str = "one", **changes) -> None:
        """A change that Python makes, sent to the page."""
        widget = self.widgets[name]
        before = self._state(widget)
        for key, value in changes.items():
            setattr(widget, key, value)
        after = self._state(widget)
        changed = {key: after[key] for key in after if after[key] != before[key]}
        self.page.evaluate("([name, c]) => window.models[name].receive(c)", [name, changed])


@pytest.fixture(scope="module")
def browser() -> Iterator:
    executable = harness.find_chromium()
    if executable is None:
        pytest.skip("no Chromium: install one, or name it by the variable CHROMIUM")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(
            executable_path=executable, args=list(harness.CHROMIUM_FLAGS)
        )
        yield browser
        browser.close()


@pytest.fixture
def stage(browser) -> Iterator[Stage]:
    context = browser.new_context(viewport={"width": 1100, "height": 900})
    requests: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.set_default_timeout(15_000)
    stage = Stage(page)
    yield stage
    foreign = [url for url in requests if not url.startswith(("blob:", "data:"))]
    context.close()
    assert stage.complaints == []
    assert foreign == []


def node(root, name: str):
    return root.locator(f'g.om-node[data-name="{name}"]').first


def test_a_click_selects_and_python_answers_with_the_inspector(stage):
    view = GraphView(samples.cnn())
    root = stage.mount(view)
    assert root.locator("section.om-view.om-graph-view").count() == 1
    node(root, "pool").click()
    playwright.expect(root.locator(".om-inspector h4")).to_have_text("MaxPool")
    assert view.selected == "pool"
    assert root.locator("g.om-selected").get_attribute("data-name") == "pool"
    assert "self.pool(x)" in root.locator(".om-inspector").inner_text()
    root.locator(".om-inspector button", has_text="relu").click()
    playwright.expect(root.locator("g.om-selected")).to_have_attribute("data-name", "relu")
    assert view.selected == "relu"


def test_a_selection_made_in_python_is_seen_and_brought_into_view(stage):
    view = GraphView(samples.chain(60, shared_every=0))
    root = stage.mount(view)
    stage.push(selected="op_55")
    box, area = node(root, "op_55").bounding_box(), root.locator(".om-stage").bounding_box()
    assert area["y"] <= box["y"] <= area["y"] + area["height"]
    assert root.locator("g.om-selected").get_attribute("data-name") == "op_55"


def test_a_drag_pans_and_selects_nothing(stage):
    view = GraphView(samples.cnn())
    root = stage.mount(view)
    before = node(root, "conv1").bounding_box()
    x, y = before["x"] + 20, before["y"] + 20
    stage.page.mouse.move(x, y)
    stage.page.mouse.down()
    stage.page.mouse.move(x + 40, y + 30, steps=4)
    stage.page.mouse.up()
    after = node(root, "conv1").bounding_box()
    assert (after["x"] - before["x"], after["y"] - before["y"]) == (40, 30)
    assert view.selected == ""
    stage.page.mouse.down()
    stage.page.mouse.move(x + 41, y + 31)
    stage.page.mouse.up()
    stage.page.wait_for_function("() => window.models.one.get('selected') === 'conv1'")


def test_the_wheel_zooms_about_the_pointer_and_does_not_scroll_the_page(stage):
    root = stage.mount(GraphView(samples.cnn()))
    before = node(root, "conv1").bounding_box()
    stage.page.mouse.move(before["x"], before["y"])
    stage.page.mouse.wheel(0, -300)
    stage.page.wait_for_function(
        "w => document.querySelector('[data-name=conv1]').getBoundingClientRect().width > w",
        arg=before["width"] * 1.2,
    )
    after = node(root, "conv1").bounding_box()
    assert abs(after["x"] - before["x"]) < 2
    assert stage.page.evaluate("scrollY") == 0
    root.locator("button", has_text="Fit").click()
    fitted = root.locator(".om-viewport").bounding_box()
    area = root.locator(".om-stage").bounding_box()
    assert fitted["height"] <= area["height"] + 1


def test_the_keyboard_walks_opens_searches_and_clears(stage):
    view = GraphView(samples.encoder(12))
    root = stage.mount(view)
    root.locator(".om-stage").focus()
    keys = stage.page.keyboard
    selected = root.locator("g.om-selected")
    keys.press("ArrowDown")
    playwright.expect(selected).to_have_attribute("data-name", "input:x")
    keys.press("ArrowDown")
    playwright.expect(selected).to_have_attribute("data-name", "embed")
    keys.press("ArrowDown")
    playwright.expect(selected).to_have_attribute("data-opens", "layers.0×12")
    keys.press("Enter")
    playwright.expect(root.locator("g.om-kind-group")).to_have_count(12)
    assert view.expanded == ["layers.0×12"]
    keys.press("/")
    assert root.locator("input[type=search]").evaluate("e => e === document.activeElement")
    keys.type("gelu")
    playwright.expect(root.locator(".om-found")).to_have_text("12 found")
    playwright.expect(selected).to_have_attribute("data-name", "layers.0.mlp.gelu")
    keys.press("Enter")
    playwright.expect(selected).to_have_attribute("data-name", "layers.1.mlp.gelu")
    keys.press("Escape")
    playwright.expect(selected).to_have_count(0)
    assert (view.selected, view.query) == ("", "")


def test_keys_do_not_reach_the_page_around(stage):
    root = stage.mount(GraphView(samples.cnn()))
    stage.page.evaluate(
        "() => { window.heard = []; document.addEventListener('keydown', e => heard.push(e.key)); }"
    )
    root.locator(".om-stage").focus()
    for key in ("a", "d", "ArrowDown", "Enter", "/"):
        stage.page.keyboard.press(key)
    assert stage.page.evaluate("window.heard") == []
    assert root.locator("section").get_attribute("data-lm-suppress-shortcuts") == "true"


def test_modules_open_by_their_plus_and_close_by_their_minus_in_place(stage):
    view = GraphView(samples.encoder(12))
    view.expand("layers.0×12")
    root = stage.mount(view)
    plus = node(root, "layers.1").locator(".om-open")
    before = node(root, "layers.1").bounding_box()
    plus.click()
    playwright.expect(node(root, "layers.1.norm1")).to_have_count(1)
    frame = root.locator('.om-cluster[data-key="layers.1"]').bounding_box()
    assert abs(frame["x"] - before["x"]) < 12
    assert abs(frame["y"] - before["y"]) < 12
    assert "layers.1" in view.expanded
    root.locator('.om-cluster-head[data-key="layers.1"] .om-fold').click()
    playwright.expect(node(root, "layers.1.norm1")).to_have_count(0)


def test_a_long_layout_is_told_with_a_button_that_cancels_it(stage):
    view = GraphView(samples.cnn())
    root = stage.mount(view)
    stage.push(laying_out="Laying out 412 boxes")
    status = root.locator(".om-status[role=status]")
    playwright.expect(status).to_contain_text("Laying out 412 boxes")
    playwright.expect(root.locator(".om-stage")).to_have_attribute("aria-busy", "true")
    status.get_by_role("button").click()
    assert view.cancel_wanted == 1
    stage.push(laying_out="")
    playwright.expect(status).to_contain_text("Laid out by")
    playwright.expect(root.locator(".om-stage")).to_have_attribute("aria-busy", "false")


def test_hovering_a_value_lights_every_edge_that_carries_it(stage):
    view = GraphView(samples.encoder(2), budget=500)
    root = stage.mount(view)
    node(root, "input:mask").hover()
    lit = root.locator(".om-edge.om-lit")
    playwright.expect(lit).to_have_count(2)
    assert len({lit.nth(i).get_attribute("data-value") for i in range(2)}) == 1


def test_shapes_on_many_edges_show_on_demand(stage):
    root = stage.mount(GraphView(samples.encoder(4), budget=500))
    labels = root.locator(".om-edge-label")
    assert labels.count() > 60
    assert root.locator(".om-edge-label:visible").count() == 0
    node(root, "layers.0.attn.q").hover()
    playwright.expect(root.locator(".om-edge-label:visible").first).to_have_text(
        "[batch, time, 64]"
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: GraphView(samples.hostile()),
        lambda: AxesView(samples.hostile()),
        lambda: DiffView(hostile_report()),
        lambda: ErrorView(refusal(samples.HOSTILE[2], samples.HOSTILE[1], samples.hostile())),
        lambda: Workbench(samples.hostile()),
    ],
    ids=["graph", "axes", "diff", "error", "workbench"],
)
def test_hostile_names_do_nothing_in_the_page(stage, make):
    view = make()
    root = stage.mount(view)
    names = list(samples.HOSTILE[:5])
    if isinstance(view, GraphView):
        for key in view.node_names[:8]:
            stage.push(selected=key)
            assert root.locator("g.om-selected").get_attribute("data-name") == key
    for tag in ("script", "img", "a", "iframe", "style", "b"):
        assert root.locator(tag).count() == 0
    found = stage.page.evaluate(
        """() => [...document.querySelectorAll('#one *')].flatMap(e => [...e.attributes])
            .filter(a => a.name.startsWith('on') || a.name === 'href').length"""
    )
    assert found == 0
    assert any(name in root.inner_text() for name in names)


def test_markup_beyond_the_list_is_dropped(stage):
    view = ErrorView(refusal())
    root = stage.mount(view)
    stage.page.evaluate(
        """() => window.models.one.receive({error_html: `<p class="kept" onclick="x()" style="y">in
            <script>window.bad = 1<\\/script><img src=x onerror="window.bad = 1">
            <svg><a href="javascript:1"><rect fill="url(#x)" width="3"/></a><use href="#y"/>
            <foreignObject><p>f</p></foreignObject><rect class="r" fill="red"/></svg></p>`})"""
    )
    assert root.locator("p.kept").get_attribute("onclick") is None
    assert root.locator("p.kept").get_attribute("style") is None
    for tag in ("script", "img", "a", "use", "foreignObject"):
        assert root.locator(tag).count() == 0
    assert root.locator("rect.r").get_attribute("fill") == "red"
    assert stage.page.evaluate("window.bad") is None


def test_a_hovered_atom_marks_every_axis_that_carries_it(stage):
    traced = om.trace(net, X, axes={"x": {0: "batch"}})
    view = AxesView(traced)
    root = stage.mount(view)
    chips = root.locator('.om-chip[data-atom="0"]')
    chips.nth(2).hover()
    playwright.expect(root.locator(".om-chip.om-lit")).to_have_count(chips.count())
    assert chips.count() >= 7


def test_a_slider_moves_the_shapes_and_says_whether_eager_agrees(stage):
    view = AxesView(om.trace(net, X, axes={"x": {0: "batch"}}))
    root = stage.mount(view)
    slider = root.locator("input[type=range]")
    slider.focus()
    stage.page.keyboard.press("ArrowRight")
    playwright.expect(root.locator(".om-status[role=status]")).to_contain_text("batch = 5: eager")
    assert view.sizes == {"batch": 5}
    playwright.expect(root.locator("td .om-size").first).to_have_text("5")
    assert slider.evaluate("e => e === document.activeElement")


def test_the_diff_filters_selects_and_walks_by_keyboard(stage):
    view = DiffView(planted())
    root = stage.mount(view)
    playwright.expect(root.locator("tr.om-selected")).to_have_attribute("data-name", "fc")
    rows = root.locator("tr[data-name]:visible")
    assert rows.count() == 8
    root.locator("input[type=checkbox]").check()
    assert rows.count() == 2
    root.locator('tr[data-name="softmax"]').click()
    assert view.selected == "softmax"
    stage.page.keyboard.press("Tab")
    root.locator('tr[data-name="softmax"]').focus()
    stage.page.keyboard.press("ArrowUp")
    playwright.expect(root.locator("tr.om-selected")).to_have_attribute("data-name", "fc")
    assert view.selected == "fc"


def test_the_error_card_underlines_the_call_and_shows_where_the_graph_ends(stage):
    root = stage.mount(ErrorView(refusal("pool", partial=samples.cnn())))
    offence = root.locator(".om-error-view mark.om-offence")
    assert offence.inner_text() == "x.mean() > 0"
    assert "underline" in offence.evaluate("e => getComputedStyle(e).textDecorationLine")
    playwright.expect(root.locator("g.om-kind-offence")).to_be_in_viewport()
    assert root.get_by_role("status").count() == 1


def test_a_selection_in_one_tab_is_a_selection_in_all(stage):
    report = planted()
    view = Workbench(report.graph, report.feeds, ["session", ("torch", report.arrays["torch"])])
    root = stage.mount(view)
    tabs = root.get_by_role("tab")
    assert tabs.all_inner_texts() == ["Graph", "Axes", "Comparison"]
    playwright.expect(root.locator("g.om-selected")).to_have_attribute("data-name", "fc")
    assert "om-introduced" in root.locator('g.om-node[data-name="fc"]').get_attribute("class")
    tabs.nth(2).click()
    root.locator('.om-diff-view tr[data-name="relu"]').click()
    tabs.nth(0).click()
    playwright.expect(root.locator("g.om-selected")).to_have_attribute("data-name", "relu")
    tabs.nth(0).press("ArrowRight")
    playwright.expect(tabs.nth(1)).to_have_attribute("aria-selected", "true")
    row = root.locator('.om-axes-view tr.om-selected[data-name="relu"]')
    playwright.expect(row).to_be_visible()
    tabs.nth(0).click()
    centre = root.locator(".om-stage").bounding_box()
    box = node(root, "relu").bounding_box()
    assert centre["x"] < box["x"] < centre["x"] + centre["width"]
    node(root, "pool").click()
    playwright.expect(root.locator("g.om-selected")).to_have_attribute("data-name", "pool")


def test_the_opset_chooser_writes_the_recording_again_and_marks_what_changed(stage):
    def normal(x):
        return om.gelu(om.relu(x))

    example = om.Tensor(np.ones((4, 6), np.float32))
    view = Workbench(om.trace(normal, example, axes={"x": {0: "batch"}}))
    root = stage.mount(view)
    root.get_by_role("tab", name="Opsets").click()
    root.locator(".om-opset-view select").select_option("13")
    rows = root.locator('.om-opset-view tr[data-state="differs"]')
    playwright.expect(rows).to_have_count(1)
    assert "gelu" in rows.first.inner_text()
    assert view.opset == 13

    # Both graphs, side by side; a click in the other one selects the call in the shown one.
    base, other = root.locator(".om-side-base"), root.locator(".om-side-other")
    playwright.expect(base.locator('g.om-node[data-name^="Gelu"]')).to_have_count(1)
    playwright.expect(other.locator('g.om-node[data-name^="Erf"]')).to_have_count(1)
    one, two = base.bounding_box(), other.bounding_box()
    assert one["y"] == two["y"] and one["x"] + one["width"] <= two["x"] + 1
    other.locator('g.om-node[data-name^="Erf"]').click()
    assert view.selected_node.op_type == "Gelu"
    playwright.expect(base.locator("g.om-selected")).to_have_count(1)
    selected = other.locator("g.om-node.om-selected")
    assert selected.count() == len(rows.first.locator("td").nth(2).locator("div").all())
    assert base.locator("g.om-highlight").count() == 1
    root.locator(".om-opset-view select").select_option(str(view.opsets[-1]))


def test_the_repro_button_writes_and_says_so(stage, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = stage.mount(DiffView(planted()))
    root.locator("button", has_text="Save repro").click()
    playwright.expect(root.locator(".om-status[role=status]")).to_contain_text("Wrote the folder")
    assert (tmp_path / "onemodel_repro" / "model.onnx").exists()


def test_two_displays_of_one_view_stay_in_step_and_closing_one_keeps_the_other(stage):
    view = GraphView(samples.cnn())
    one = stage.mount(view, "one")
    stage.page.evaluate(
        """async (source) => {
            const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
            const el = document.createElement('div');
            el.id = 'again';
            document.body.append(el);
            const widget = (await import(url)).default;
            window.stopAgain = widget.render({ model: window.models.one, el });
        }""",
        view._esm,
    )
    again = stage.page.locator("#again")
    node(one, "fc").click()
    playwright.expect(again.locator("g.om-selected")).to_have_attribute("data-name", "fc")
    stage.page.evaluate("() => window.stopAgain()")
    assert again.locator("section").count() == 0
    node(one, "relu").click()
    playwright.expect(one.locator("g.om-selected")).to_have_attribute("data-name", "relu")


@pytest.mark.parametrize("kind", ["graph", "axes", "diff", "error", "workbench"])
def test_fifty_displays_leave_no_listener_behind(stage, kind):
    report = planted()
    view = {
        "graph": lambda: GraphView(samples.cnn()),
        "axes": lambda: AxesView(samples.cnn()),
        "diff": lambda: DiffView(report),
        "error": lambda: ErrorView(refusal(partial=samples.cnn())),
        "workbench": lambda: Workbench(report.graph, report.feeds, ["session", "onnxruntime"]),
    }[kind]()
    stage.mount(view)
    stage.page.evaluate("() => window.stops.one()")
    assert stage.page.evaluate("() => window.models.one.count()") == 0
    assert (
        stage.page.evaluate(
            """async (source) => {
            const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
            const widget = (await import(url)).default;
            const el = document.querySelector('#one');
            for (let i = 0; i < 50; i++) (await widget.render({ model: models.one, el }))();
            return models.one.count() + el.childElementCount;
        }""",
            view._esm,
        )
        == 0
    )


def test_a_highlight_takes_less_than_fifty_milliseconds_and_lays_nothing_out(stage):
    view = GraphView(samples.encoder(12), budget=400)
    stage.mount(view)
    assert len(view.visible) > 150
    spent = stage.page.evaluate(
        """() => {
            const drawn = () => document.querySelector('#one .om-svg');
            const svg = drawn();
            const start = performance.now();
            for (let i = 0; i < 10; i++) models.one.receive({highlighted: [`n${i}`, `n${i + 9}`]});
            return [(performance.now() - start) / 10, svg === drawn()];
        }"""
    )
    assert spent[1]
    assert spent[0] < 50


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_on_boxes_stays_readable_in_both_themes(stage, theme):
    if theme == "dark":
        stage.page.add_style_tag(
            content=":root { --jp-layout-color1: #212121; --jp-content-font-color1: #fff;"
            " --jp-content-font-color2: #bbb; --jp-layout-color2: #333; }"
        )
        stage.page.evaluate("() => document.body.dataset.jpThemeLight = 'false'")
    root = stage.mount(GraphView(samples.cnn()))
    colours = root.locator("g.om-node").evaluate_all(
        """nodes => nodes.map(n => {
            const c = (s, p) => getComputedStyle(n.querySelector(s))[p];
            return [c('.om-title', 'fill'), c('.om-base', 'fill'), c('.om-face', 'stroke')];
        })"""
    )
    for text, ground, border in colours:
        assert contrast(text, ground) > 4.5
        assert contrast(border, ground) > 2.5


def contrast(one: str, two: str) -> float:
    """Contrast of two ``rgb(...)`` colours as WCAG 2 defines it."""

    def luminance(colour: str) -> float:
        parts = [float(p) / 255 for p in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def test_a_saved_page_opens_from_disk_with_nothing_fetched(stage, tmp_path: Path):
    path = tmp_path / "view.html"
    traced = om.trace(net, X, axes={"x": {0: "batch"}})
    Workbench(traced).save_html(path)
    text = path.read_text("utf-8")
    stage.page.set_content(text)
    nodes = len(traced.graph.nodes)
    assert nodes >= 5
    assert stage.page.locator("g.om-node").count() >= nodes
    assert stage.page.locator(".om-diff-view tr[data-name]").count() == nodes
