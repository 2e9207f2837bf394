"""Models that ship inside of real packages: loaded, run at two sizes, equal to ONNX Runtime.

The files are not the project's. ``ONEMODEL_REAL_MODELS`` names the folder in which they lie, and
``ONEMODEL_REAL_MODELS_DOWNLOAD=1`` brings them there first.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper, parser

from onemodel.graph.bind import Mode
from onemodel.onnx_io.reader import from_model_proto
from onemodel.session.session import Session

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    spec = spec_from_file_location("real_models", ROOT / "scripts" / "real_models.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["real_models"] = module
    spec.loader.exec_module(module)
    return module


REAL = _load()


def _files() -> list[tuple[str, Path]]:
    folder = os.environ.get("ONEMODEL_REAL_MODELS")
    if not folder:
        return []
    if os.environ.get("ONEMODEL_REAL_MODELS_DOWNLOAD") == "1":
        REAL.fetch(Path(folder))
    return list(REAL.files(Path(folder)))


FILES = _files()


@pytest.mark.slow
@pytest.mark.skipif(
    not FILES, reason="the files of other packages are not here: set ONEMODEL_REAL_MODELS"
)
@pytest.mark.parametrize(("name", "path"), FILES, ids=lambda item: str(item))
def test_a_model_of_a_real_package_equals_onnxruntime(name: str, path: Path) -> None:
    outcome = REAL.judge(name, path)
    assert not outcome.failure
    assert max(outcome.differences) <= outcome.tolerance, outcome.differences


def test_the_report_tells_every_file_and_explains_what_needs_more_tolerance() -> None:
    text = (ROOT / "docs" / "real_models.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "|---" not in line]
    assert len(rows) - 1 == int(re.findall(r"(\d+) of (\d+) files", text)[0][1]) >= 54
    for spec in REAL.PACKAGES:
        assert f"| {spec.replace('==', ' ')}: " in text
    for _, reason in REAL.EXPLAINED.values():
        assert reason in text


def test_a_size_called_with_a_question_mark_has_no_name() -> None:
    info = helper.make_tensor_value_info("x", 1, ["?", 3, "?"])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [info], [info])
    graph.output[0].name = "y"
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    assert from_model_proto(model).inputs[0].shape == (None, 3, None)
    x = np.ones((2, 3, 5), np.float32)
    np.testing.assert_array_equal(Session(model).run({"x": x})["y"], x)


def test_nodes_of_one_name_are_given_different_ones_and_that_is_noted() -> None:
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) '
        "{ [same] a = Neg (x) [same_2] b = Neg (a) [same] y = Neg (b) }"
    )
    graph = from_model_proto(model)
    assert [node.name for node in graph.nodes] == ["same", "same_2", "same_3"]
    assert any("same name" in text for text in graph.metadata.values())


def _quantized(dice: np.random.RandomState, *shape: int) -> tuple[np.ndarray, ...]:
    weights = dice.randint(-90, 90, shape).astype(np.int8)
    scales = np.full(shape[0], 0.01, np.float32)
    return weights, scales, np.zeros(shape[0], np.int8)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_an_lstm_with_weights_of_8_bits_equals_onnxruntime(direction: str) -> None:
    dice = np.random.RandomState(7)
    count = 2 if direction == "bidirectional" else 1
    w, w_scale, w_zero = _quantized(dice, count, 3, 16)
    r, r_scale, r_zero = _quantized(dice, count, 4, 16)
    b = dice.randn(count, 32).astype(np.float32)
    constants = {"w": w, "r": r, "b": b, "ws": w_scale, "wz": w_zero, "rs": r_scale, "rz": r_zero}
    inputs = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = helper.make_node(
        "DynamicQuantizeLSTM",
        inputs,
        ["y", "h", "c"],
        domain="com.microsoft",
        direction=direction,
        hidden_size=4,
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, [5, 1, 3])],
        [helper.make_tensor_value_info(name, 1, None) for name in "yhc"],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    x = dice.randn(5, 1, 3).astype(np.float32)
    judged = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    ).run(None, {"x": x})
    for found, wanted in zip(Session(model).run({"x": x}).values(), judged, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)


LIGHT = sorted((Path(onnx.__file__).parent / "backend" / "test" / "data" / "light").glob("*.onnx"))


def _with_random_weights(path: Path) -> onnx.ModelProto:
    """The model with its constant weights replaced by seeded random ones of small variance."""
    model = onnx.load(path)
    arrays = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    dice = np.random.RandomState(11)
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = [int(n) for n in arrays[node.input[0]]]
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else 0
        numbers = dice.randn(*shape) / np.sqrt(fan) if fan else np.abs(dice.randn(*shape)) + 0.5
        array = numpy_helper.from_array(np.asarray(numbers, np.float32), node.output[0])
        model.graph.initializer.append(array)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


@pytest.mark.slow
@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_a_light_model_with_random_weights_equals_onnxruntime(path: Path) -> None:
    model = _with_random_weights(path)
    session = Session(model)
    (name,) = session.input_names
    x = np.random.RandomState(3).rand(1, 3, 224, 224).astype(np.float32)
    judged = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    ).run(None, {name: x})
    for found, wanted in zip(session.run({name: x}).values(), judged, strict=True):
        assert float(np.std(wanted)) > 0, "the weights matter"
        scale = max(1e-6, float(np.abs(wanted).max()))
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4 * scale)


def _run_light(path: Path, mode: Mode, outputs: list[str] | None = None) -> np.ndarray:
    """The output, or one value, at the input that the light models are made for."""
    session = Session(path, mode=mode)
    count = 3 * 224 * 224
    x = (np.arange(count, dtype=np.float32) / count).reshape(1, 3, 224, 224)
    (found,) = session.run({session.input_names[0]: x}, outputs).values()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_a_light_model_gives_the_output_it_came_with(path: Path) -> None:
    """On every machine, that is, by the exact kernels."""
    found, wanted = _run_light(path, "exact"), _stored(path)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-7)


def _stored(path: Path) -> np.ndarray:
    stored = path.with_name(f"{path.stem}_output_0.pb").read_bytes()
    return numpy_helper.to_array(onnx.TensorProto.FromString(stored))


HANGS_ON_A_BIT = "light_squeezenet"
"""Its logits are 1000 equal numbers of 9e9, so that a last bit decides the softmax: fast kernels
give the stored output only where BLAS adds every row of a product in the same order."""


@pytest.mark.slow
@pytest.mark.parametrize("path", LIGHT, ids=lambda path: path.stem)
def test_a_light_model_gives_that_output_fast_too(path: Path) -> None:
    wanted = _stored(path)
    if path.stem == HANGS_ON_A_BIT:
        (softmax,) = [n for n in onnx.load(path).graph.node if n.op_type == "Softmax"]
        logits = _run_light(path, "fast", [softmax.input[0]])
        assert logits.shape == wanted.shape
        assert np.ptp(logits) <= 4 * np.spacing(logits.max())
        assert np.ptp(wanted) < 1e-9, "and equal logits give equal parts"
        return
    found = _run_light(path, "fast")
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-7)


def test_all_light_models_are_there() -> None:
    assert len(LIGHT) == 9
