"""Models that other exporters wrote, drawn at their first sight."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from onemodel_widgets import AxesView, GraphView
from onemodel_widgets.views.dot import find_engine
from tests.widgets import samples

ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"
MODELS = sorted(ZOO.glob("*.onnx"))

zoo = pytest.mark.skipif(not MODELS, reason="the model zoo is not beside the repository")


@zoo
@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_a_model_is_drawn_whole_and_small(path):
    view = GraphView(path)
    assert len(view.visible) <= 200
    assert view._picture.scene.total == len(view.node_names)
    assert len(view.to_html()) < 400_000
    missing = [key for key in view.node_names if view._picture.scene.box(key) is None]
    assert len(missing) <= len(view.node_names) // 10
    for key in view.node_names[:: max(1, len(view.node_names) // 10)]:
        view.selected = key
        json.dumps(view.inspector)
    AxesView(path).to_html()
    view.close()


@zoo
def test_modules_and_source_lines_of_another_exporter_are_shown():
    view = GraphView(ZOO / "bert_manual.dy.onnx")
    assert {"b.0", "b.0.a", "b.0.a.qkv"} <= set(view.expanded)
    view.select(next(key for key in view.node_names if "MatMul" in key))
    assert "torch_zoo.py:" in view.inspector["place"]
    assert view.inspector["expression"]


@pytest.mark.skipif(find_engine() is None, reason="no Graphviz engine is installed")
@pytest.mark.parametrize(
    "make, seconds",
    [
        (lambda: samples.chain(200, scopes=10), 1.0),
        (lambda: samples.encoder(29), 2.0),
        (lambda: samples.chain(10_000), 2.0),
        (lambda: samples.chain(10_000, scopes=100), 2.0),
    ],
    ids=["200 nodes", "29 layers", "10,000 nodes", "10,000 nodes in scopes"],
)
def test_the_first_picture_comes_soon(make, seconds):
    graph = make()
    spent = []
    for _ in range(3):
        start = time.process_time()
        GraphView(graph).close()
        spent.append(time.process_time() - start)
    assert min(spent) < seconds
