"""Live widgets without a browser: traits, selection, folding, search, bundles, closing."""

from __future__ import annotations

import gc
import json
import weakref

import numpy as np
import pytest
from ipywidgets import Widget

import onemodel as om
from onemodel.errors import TraceErrorKind, TraceException
from onemodel.graph.ir import Graph
from onemodel.onnx_io import writer
from onemodel_widgets import AxesView, DiffView, ErrorView, GraphView, Workbench
from onemodel_widgets.shell import View
from tests.widgets import samples
from tests.widgets.test_static_views import planted, refusal

RNG = np.random.default_rng(0)
W1 = om.Tensor(RNG.standard_normal((8, 1, 3, 3)).astype(np.float32))
W2 = om.Tensor(RNG.standard_normal((10, 128)).astype(np.float32))
X = om.Tensor(RNG.standard_normal((4, 1, 8, 8)).astype(np.float32))


def net(x):
    x = om.relu(om.conv2d(x, W1, padding=1))
    x = om.flatten(om.max_pool2d(x, 2), 1)
    return om.softmax(om.linear(x, W2), 1)


@pytest.fixture(scope="module")
def traced():
    return om.trace(net, X, axes={"x": {0: "batch"}})


def test_a_trace_is_shown_with_its_lines_and_the_numbers_of_its_example(traced):
    view = GraphView(traced)
    assert view.selected == ""
    assert view.inspector == {}
    view.select("conv2d")
    node = view.selected_node
    assert node is not None
    assert node.op_type == "Conv"
    facts = view.inspector
    assert facts["expression"] == "om.conv2d(x, W1, padding=1)"
    assert facts["place"].endswith(f"test_widgets.py:{net.__code__.co_firstlineno + 1}")
    assert facts["outputs"][0]["type"] == "float32[batch, 8, 8, 8]"
    assert facts["outputs"][0]["statistics"]["shape"] == (4, 8, 8, 8)
    assert facts["sources"] == ["input:x"]


def test_a_click_in_the_browser_is_seen_in_python_and_answered():
    view = GraphView(samples.cnn())
    seen = []
    view.observe(lambda change: seen.append(change["new"]), "selected")
    view.set_state({"selected": "pool"})
    assert seen == ["pool"]
    assert view.selected_node.op_type == "MaxPool"
    assert view.inspector["name"] == "pool"
    assert view.selected_box == view._picture.scene.box("pool").id


def test_selecting_takes_values_inputs_and_modules_and_refuses_the_rest_by_name():
    view = GraphView(samples.encoder(2))
    view.select("x")
    assert view.selected == "input:x"
    assert view.selected_node is None
    view.select("layers.0.attn.q_out")
    assert view.selected == "layers.0.attn.q"
    assert [step["title"] for step in view.inspector["path"]] == ["layers.0", "attn"]
    view.select("layers.1")
    assert view.inspector["kind"] == "module"
    with pytest.raises(KeyError, match="no node, module or value 'nothing'"):
        view.select("nothing")


def test_selecting_a_hidden_node_opens_the_way_to_it():
    view = GraphView(samples.encoder(12))
    assert "layers.7.attn.softmax" not in view.visible
    view.selected = "layers.7.attn.softmax"
    assert "layers.7.attn.softmax" in view.visible
    assert view.selected_box == view._picture.scene.box("layers.7.attn.softmax").id


def test_modules_open_and_close_by_a_round_trip():
    view = GraphView(samples.encoder(12))
    before = view.svg
    view.expand("layers.3")
    assert {"layers.3.norm1", "layers.3.add2", "layers.2"} <= set(view.visible)
    assert view.svg != before
    assert 'data-key="layers.3"' in view.svg
    view.set_state({"expanded": [key for key in view.expanded if key != "layers.3"]})
    assert "layers.3.norm1" not in view.visible
    view.collapse()
    assert view.expanded == []
    assert view.svg == before
    with pytest.raises(KeyError, match=r"no module 'layers\.99'"):
        view.expand("layers.99")


def test_search_looks_into_folded_modules_and_names_the_box_that_holds_a_hit():
    view = GraphView(samples.encoder(12))
    view.set_state({"query": "SoftMax"})
    assert len(view.matches) == 12
    assert {match["box"] for match in view.matches} == {
        view._picture.scene.box("layers.0.attn.softmax").id
    }
    view.selected = view.matches[4]["name"]
    assert view.selected_node.op_type == "Softmax"
    assert {match["box"] for match in view.matches} <= {b.id for b in view._picture.scene.boxes}
    view.query = ""
    assert view.matches == []


def test_a_highlight_only_changes_classes():
    view = GraphView(samples.cnn())
    before = view.svg
    view.highlight = ["fc", "pool", "no such node"]
    boxes = {view._picture.scene.box(key).id for key in ("fc", "pool")}
    assert set(view.highlighted) == boxes
    view.selected = "relu"
    assert view.svg == before
    assert view.to_html().count("om-highlight") >= 2


def test_files_models_and_graphs_are_shown_and_anything_else_is_refused(tmp_path):
    model = writer.to_model_proto(samples.cnn())
    path = tmp_path / "cnn.onnx"
    path.write_bytes(model.SerializeToString())
    for shown in (samples.cnn(), model, str(path), path):
        assert "digits_cnn" in repr(GraphView(shown))
    with pytest.raises(TypeError, match="cannot take a int for a model"):
        GraphView(3)


def test_a_file_without_inner_types_shows_inferred_shapes():
    model = writer.to_model_proto(samples.cnn())
    del model.graph.value_info[:]
    view = GraphView(model)
    assert "[batch, 8, 8, 8]" in view.svg


def test_the_error_view_takes_what_was_raised_because_of_a_refusal():
    view = ErrorView(refusal())
    assert repr(view) == "ErrorView(DataDependent OM101 at In[3]:6)"
    for link in ("cause", "context", "group"):
        try:
            try:
                raise refusal()
            except TraceException as inner:
                if link == "cause":
                    raise RuntimeError("outer") from inner
                if link == "group":
                    raise ExceptionGroup("several", [ValueError(), inner]) from None
                raise ValueError("outer")  # noqa: B904
        except Exception as outer:
            assert ErrorView(outer).card.code == "OM101"
    with pytest.raises(TypeError, match="a ValueError is no TraceException"):
        ErrorView(ValueError("x"))


def test_a_suppressed_context_is_not_searched():
    try:
        try:
            raise refusal()
        except TraceException:
            raise ValueError("outer") from None
    except ValueError as outer:
        with pytest.raises(TypeError):
            ErrorView(outer)


def six_refusals():
    """One real refusal per kind, with the text of the call that is refused."""

    def data(x):
        return x * 2 if x.sum() > 0 else x

    def mutation(x):
        x[0] = 1.0
        return x

    def no_grad(x):
        with om.no_grad():
            return x * 2

    def symbolic(x):
        return x.reshape(8, -1)

    def unsupported(x):
        return om.dropout(x, 0.5, training=True)

    return {
        "DATA_DEPENDENT": (data, "x.sum() > 0"),
        "IN_PLACE_MUTATION": (mutation, "x[0]"),
        "NO_GRAD_IN_TRACE": (no_grad, "om.no_grad()"),
        "SYMBOLIC_SHAPE": (symbolic, "x.reshape(8, -1)"),
        "UNSUPPORTED_OPERATION": (unsupported, "om.dropout(x, 0.5, training=True)"),
    }


@pytest.mark.parametrize("kind", list(six_refusals()))
def test_each_kind_of_a_real_refusal_marks_its_call(kind):
    function, call = six_refusals()[kind]
    x = om.Tensor(np.ones((4, 6), np.float32))
    with pytest.raises(TraceException) as caught:
        om.trace(function, x, axes={"x": {0: "batch"}})
    view = ErrorView(caught.value)
    assert view.card.kind == kind
    assert f'<mark class="om-offence">{call.replace(">", "&gt;")}' in view.error_html


def test_invalid_usage_is_shown_with_the_trace_call():
    with pytest.raises(TraceException) as caught:
        om.trace(net, X, axes={"x": {0: "batch"}}, opset=3)
    view = ErrorView(caught.value)
    assert view.card.kind == TraceErrorKind.INVALID_USAGE.name
    assert "om.trace(net, X" in view.error_html


def test_sliders_move_shapes_and_check_eager_against_the_session(traced):
    view = AxesView(traced)
    assert view.sizes == {"batch": 4}
    assert view.symbols["batch"]["most"] >= 16
    view.set_state({"sizes": {"batch": 7}})
    assert "7" in view.axes_html
    assert view.axes_status == f"batch = 7: eager and session agree on all {count(traced)} values"
    view.sizes = {"nonsense": 3}
    assert view.sizes == {"batch": 4}


def count(traced) -> int:
    return sum(len(node.outputs) for node in traced.graph.nodes)


def test_sizes_beyond_reason_are_not_run(traced):
    view = AxesView(traced)
    view.sizes = {"batch": 10**9}
    assert "more than" in view.axes_status


def test_the_first_introduced_difference_is_selected_at_once():
    view = DiffView(planted())
    assert view.selected == "fc"
    assert view.report.first_introduced.value == "fc"
    assert "om-first" in view.diff_html


def test_a_diff_of_a_trace_runs_the_engines_itself(traced):
    view = DiffView(traced)
    assert view.report.agrees
    assert view.selected == ""
    assert repr(view) == f"DiffView(net: {count(traced)} values, all agree)"


def test_the_workbench_links_its_views_by_one_selection(traced):
    bench = Workbench(traced)
    assert bench.tabs == ["Graph", "Axes", "Comparison", "Opsets"]
    bench.selected = bench._data.outlined.keys[traced.graph.nodes[1]]
    assert bench.selected_node is traced.graph.nodes[1]
    assert bench.inspector["name"] == bench.selected
    bench.set_state({"sizes": {"batch": 3}})
    assert "agree" in bench.axes_status
    html = bench.to_html()
    for kind in ("graph", "axes", "diff"):
        assert f"om-{kind}-view" in html


def test_the_workbench_of_a_file_compares_when_it_is_fed_and_of_a_refusal_shows_the_card(tmp_path):
    path = tmp_path / "cnn.onnx"
    path.write_bytes(writer.to_model_proto(samples.cnn()).SerializeToString())
    assert Workbench(path).tabs == ["Graph", "Axes"]
    x = np.zeros((2, 1, 8, 8), np.float32)
    bench = Workbench(path, {"x": x})
    assert bench.tabs == ["Graph", "Axes", "Comparison"]
    assert bench.report.reference == "session"
    assert Workbench(refusal(partial=samples.cnn())).tabs == ["Error", "Graph", "Axes"]


def test_the_opset_chooser_shows_what_is_written_differently_and_what_cannot_be():
    def normal(x):
        return om.gelu(om.layer_norm(x, (6,)))

    x = om.Tensor(np.ones((4, 6), np.float32))
    bench = Workbench(om.trace(normal, x, axes={"x": {0: "batch"}}))
    assert not any(row.changed for row in bench._opset_data.rows)
    bench.set_state({"opset": 13})
    changed = {row.operator: row for row in bench._opset_data.rows if row.changed}
    assert set(changed) == {"layer_norm", "gelu"}
    assert changed["gelu"].here == ("Gelu",)
    assert len(changed["layer_norm"].there) > 3
    assert "changed" in bench.opset_html
    assert "Gelu" in bench._opset_data.to_text()
    low = bench.unconvertible()
    assert all(low.values())
    bench.opset = 99
    assert "opset 99 is outside" in bench.opset_html


def test_the_button_writes_a_repro_folder_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    view = DiffView(planted())
    view.set_state({"repro_wanted": 1})
    assert (tmp_path / "onemodel_repro" / "run.py").exists()
    assert view.diff_status == "Wrote the folder onemodel_repro beside the notebook."
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr("onemodel_widgets.diff.REPRO_FOLDER", "file")
    monkeypatch.setattr(view, "save_repro", lambda: DiffView.save_repro(view, "file"))
    view.set_state({"repro_wanted": 2})
    assert view.diff_status.startswith("No folder was written")


def test_a_planted_fault_is_selected_in_the_workbench_and_painted_into_its_graph():
    report = planted()
    graph = report.graph
    bench = Workbench(graph, report.feeds, against=("session", ("torch", report.arrays["torch"])))
    assert bench.selected == "fc"
    box = bench._picture.scene.box("fc").id
    assert "om-introduced" in bench.marks[box]
    assert bench._picture.scene.box("conv1").id not in bench.marks


def every_view(traced) -> list[View]:
    return [
        GraphView(traced),
        AxesView(traced),
        DiffView(planted()),
        ErrorView(refusal(partial=samples.cnn())),
        Workbench(traced),
    ]


def test_every_bundle_has_a_widget_a_static_form_and_text(traced):
    for view in every_view(traced):
        data, _metadata = view._repr_mimebundle_()
        assert set(data) == {
            "application/vnd.jupyter.widget-view+json",
            "text/html",
            "text/plain",
            "image/png",
        }
        assert len(data["image/png"]) < 100_000
        assert "<script" not in data["text/html"]
        assert "om-view" in data["text/html"]
        assert len(data["text/html"]) < 300_000


def test_states_are_small_json_and_reprs_hold_no_address(traced):
    for view in every_view(traced):
        state = view.get_state()
        text = json.dumps(state, default=lambda value: value.get_state())
        assert len(text) < 1_000_000
        assert len(state["_esm"]) < 40_000
        assert repr(view) == repr(view)
        assert "0x" not in repr(view)
        assert "object at" not in repr(view)


def test_two_traces_of_the_same_code_have_the_same_bundle():
    def bundle():
        data, _ = GraphView(om.trace(net, X, axes={"x": {0: "batch"}}))._repr_mimebundle_()
        return data["text/html"], data["text/plain"], data["image/png"]

    assert bundle() == bundle()


def test_a_static_form_that_fails_does_not_take_the_live_one_with_it(monkeypatch):
    view = GraphView(samples.cnn())

    def broken():
        raise RuntimeError("no")

    monkeypatch.setattr(view, "to_html", broken)
    data, _ = view._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "RuntimeError" in data["text/html"]


def test_closing_frees_the_widget_its_layout_and_what_it_showed():
    def widgets() -> int:
        import ipywidgets.widgets.widget as registry

        return len(registry._instances)

    before = widgets()
    graph = samples.cnn()
    alive = weakref.ref(graph)
    for _ in range(5):
        views = [GraphView(graph), AxesView(graph), Workbench(graph)]
        for view in views:
            view.close()
            view.close()
    del views, view, graph
    gc.collect()
    assert widgets() == before
    assert alive() is None


def test_hostile_names_pass_through_every_trait():
    view = GraphView(samples.hostile())
    for key in view.node_names[:6]:
        view.selected = key
        assert view.inspector["name"] == key
        json.dumps(view.get_state(["inspector", "svg", "head", "matches"]))
    for name in samples.HOSTILE:
        view.query = name[:20]
    assert isinstance(view, Widget)


def test_a_page_is_saved_whole(tmp_path):
    path = tmp_path / "view.html"
    GraphView(samples.cnn()).save_html(path)
    text = path.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "MaxPool" in text


def test_an_empty_graph_is_shown():
    view = GraphView(Graph(name="empty"))
    assert repr(view) == "GraphView(empty: 0 nodes, 0 boxes)"
    assert "empty" in view.to_html()
