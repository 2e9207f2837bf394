"""What people report of other viewers: no engine, big graphs, lost views, ids, two displays.

Each test is one acceptance case; its number stands in its name.
"""

from __future__ import annotations

import re
from pathlib import Path

import ipywidgets
import numpy as np
import pytest

from onemodel.compare import compare
from onemodel_widgets import DiffView, GraphView
from tests.notebooks.rules import UNSTABLE
from tests.widgets import samples

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"

needs_cases = pytest.mark.skipif(
    not CASES.is_dir(), reason="the acceptance cases are not beside the repository"
)

HIDDEN = """
from onemodel_widgets.views import dot
dot.shutil.which = lambda *names, **options: None  # no engine, wherever one may be installed
from onemodel_widgets import GraphView
from tests.widgets import samples
"""


def executed(folder: Path, *sources: str, **environment: str) -> list[list]:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    client = nbclient.NotebookClient(
        notebook,
        timeout=120,
        kernel_name="python3",
        store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
    )
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        client.execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.fixture(scope="module")
def without_engine(tmp_path_factory: pytest.TempPathFactory) -> list[list]:
    return executed(
        tmp_path_factory.mktemp("notebook"),
        HIDDEN,
        "view = GraphView(samples.cnn()); view",
        "view.selected = 'conv1'; print(view.selected_node.op_type)",
    )


def test_k49_without_an_engine_a_cell_shows_the_whole_graph_and_one_line_of_advice(without_engine):
    _, (shown,), (told,) = without_engine
    assert [out["output_type"] for outs in without_engine for out in outs] == [
        "execute_result",
        "stream",
    ]
    html = shown["data"]["text/html"]
    for label in ("Conv", "Relu", "MaxPool", "Reshape", "Gemm", "Softmax"):
        assert f">{label}</text>" in html
    advice = re.findall(r'role="status">([^<]*graphviz[^<]*)<', html)
    assert len(advice) == 1
    assert "pip install graphviz-pure" in advice[0]
    assert "Traceback" not in html
    assert told["text"] == "Conv\n"


@needs_cases
def test_k50_five_thousand_nodes_open_folded_and_a_scope_opens_to_its_fifty():
    view = GraphView(CASES / "K50a" / "model.onnx")
    assert len(view.visible) <= 200
    assert "5000 nodes" in view.to_html()
    view.expand("block_7")
    inside = [name for name in view.visible if name.startswith("block_7/op_")]
    assert inside == [f"block_7/op_{number}" for number in range(350, 400)]
    view.selected = "block_7/op_377"
    assert view.selected_node is not None
    view.close()


def test_k51_a_reopened_notebook_shows_the_graph_without_its_kernel(without_engine):
    data = without_engine[1][0]["data"]
    assert WIDGET_VIEW in data
    assert "<svg" in data["text/html"]
    for label in ("Conv", "Relu", "MaxPool", "Gemm", "Softmax"):
        assert label in data["text/html"]
        assert label in data["text/plain"]


def test_k52_two_kernels_under_two_hash_seeds_show_the_same_bytes(tmp_path):
    runs = [
        executed(
            tmp_path,
            "from onemodel_widgets import AxesView, GraphView\nfrom tests.widgets import samples",
            "display(GraphView(samples.encoder(3)), AxesView(samples.cnn()))",
            PYTHONHASHSEED=seed,
        )[1]
        for seed in ("0", "1")
    ]
    for one, two in zip(*runs, strict=True):
        for kind in ("text/html", "text/plain"):
            assert one["data"][kind] == two["data"][kind]
            for what, pattern in UNSTABLE.items():
                assert not pattern.search(one["data"][kind]), what


def test_k53_a_view_goes_into_a_box_beside_itself_and_survives_the_box():
    view = GraphView(samples.cnn())
    box = ipywidgets.VBox([view, view])
    assert box.children == (view, view)
    for bundle in (view._repr_mimebundle_(), view._repr_mimebundle_()):
        assert bundle is not None
        assert bundle[0][WIDGET_VIEW]["model_id"] == view.model_id
    box.close()
    view.set_state({"selected": "fc"})
    assert view.selected_node is not None
    assert view.inspector["op"] == "Gemm"
    view.close()


@needs_cases
def test_k55_the_altered_constant_is_first_and_the_rest_is_its_consequence():
    folder = CASES / "K55a"
    x = np.random.default_rng(0).standard_normal
    model = GraphView(folder / "model.onnx")
    feeds = {
        value.name: x([d if isinstance(d, int) else 3 for d in value.shape or ()]).astype(
            np.float32
        )
        for value in model._data.graph.inputs
        if value not in model._data.graph.initializers
    }
    against = ("session", ("altered", folder / "altered.onnx"))
    view = DiffView(compare(folder / "model.onnx", feeds, against=against))
    first = view.report.first_introduced
    assert first is not None
    assert first.node.name == view.selected == "scale"
    rows = list(view.report.rows)
    place = rows.index(first)
    assert all(row.status("altered") in ("equal", "close") for row in rows[:place])
    assert [row.status("altered") for row in rows[place + 1 :]] == ["inherited"] * (
        len(rows) - place - 1
    )
    assert "scale" in view.to_text()
