"""Models that other exporters wrote: engines agree on every value, planted faults are named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onemodel.compare import compare
from onemodel.onnx_io.reader import from_model_proto

ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"
MODELS = sorted(ZOO.glob("*.onnx"))

pytestmark = pytest.mark.skipif(not MODELS, reason="the model zoo is not beside the repository")


def feeds_of(path: Path) -> dict[str, np.ndarray]:
    stored = np.load(ZOO / f"{path.name.split('.')[0]}.npz")
    graph = from_model_proto(onnx.load(path))
    names = [v.name for v in graph.inputs if v not in graph.initializers]
    return {name: stored[f"in0_{index}"] for index, name in enumerate(names)}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_session_and_onnxruntime_agree_on_every_value(path):
    report = compare(path, feeds_of(path), against=("session", "onnxruntime"))
    assert report.failures == {}
    assert report.agrees, str(report)
    assert len(report.rows) >= 2


def faulty(model: onnx.ModelProto, index: int) -> onnx.ModelProto:
    """The model in which one node's first result is off by one part in a hundred."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    node = copy.graph.node[index]
    result = node.output[0]
    node.output[0] = f"{result}__healthy"
    copy.graph.initializer.append(numpy_helper.from_array(np.float32(1.01), "__fault"))
    fault = helper.make_node("Mul", [node.output[0], "__fault"], [result], name="fault")
    later = [*copy.graph.node[index + 1 :]]
    del copy.graph.node[index + 1 :]
    copy.graph.node.extend([fault, *later])
    return copy


def places(model: onnx.ModelProto, known: dict[str, np.ndarray]) -> Iterator[int]:
    """Nodes whose first result is a float32 array with something in it."""
    for index, node in enumerate(model.graph.node):
        array = known.get(node.output[0])
        if array is None or array.dtype != np.float32:
            continue
        if np.isfinite(array).all() and np.abs(array).max(initial=0) > 0:
            yield index


@pytest.mark.parametrize(
    "name", ["resnet18ish.ts", "unet.dy", "gpt_manual.dy", "vae.ts", "lstmcell_loop.ts"]
)
@pytest.mark.parametrize("engine", ["session", "onnxruntime"])
def test_a_fault_planted_in_any_node_is_the_first_difference(name, engine):
    path = ZOO / f"{name}.onnx"
    if not path.exists():
        pytest.skip(f"{path.name} is not in the zoo")
    model, feeds = onnx.load(path), feeds_of(path)
    healthy = compare(model, feeds, against=("session", "onnxruntime"))
    known = dict(healthy.arrays[engine])
    planted = list(places(model, known))
    assert len(planted) > 10
    for index in planted:
        report = compare(faulty(model, index), feeds, against=(("healthy", known), engine))
        first = report.first_introduced
        assert first is not None
        assert first.value == model.graph.node[index].output[0]
        assert first.node.name == "fault"
