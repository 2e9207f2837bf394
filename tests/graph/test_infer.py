"""Symbolic shape inference: axes as in a trace, and never a wrong one."""

from __future__ import annotations

import importlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser

from onemodel.axes.extent import Extent
from onemodel.graph.infer.shapes import infer_shapes
from onemodel.graph.ir import format_shape
from onemodel.onnx_io.reader import from_model_proto, load
from tests.graph.shape_runs import differs, forget, wrong_values
from tests.kernels.test_backend_data import _data_sets, _model

ZOO = Path(__file__).parents[2].parent / "shared" / "zoo"

HEAD = '<ir_version: 10, opset_import: ["" : 20]> g '


def shape_of(text: str, name: str = "y") -> str:
    return format_shape(from_model_proto(parser.parse_model(HEAD + text)).value(name).shape)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("(float[N, 3] x) => (float y) { y = Relu (x) }", "[N, 3]"),
        ("(float[N, 1] x, float[4] b) => (float y) { y = Add (x, b) }", "[N, 4]"),
        ("(float[N] x, float[M] b) => (float y) { y = Add (x, b) }", "[?]"),
        ("(float[N, T, 8] x, float[8, 5] w) => (float y) { y = MatMul (x, w) }", "[N, T, 5]"),
        (
            "(float[N, 3, H, W] x, float[8, 3, 3, 3] w) => (float y) "
            "{ y = Conv <strides=[2, 2], pads=[1, 1, 1, 1]> (x, w) }",
            "[N, 8, ceil(H/2), ceil(W/2)]",
        ),
        (
            "(float[N, T, 8] x) => (float y) <int64[4] s = {0, 0, 2, 4}> { y = Reshape (x, s) }",
            "[N, T, 2, 4]",
        ),
        (
            "(float[N, T, 8] x) => (float y) <int64[2] s = {-1, 8}> { y = Reshape (x, s) }",
            "[N*T, 8]",
        ),
        (
            "(float[N, T] x) => (float y) <int64 i = {0}, int64[1] a = {0}, int64[1] m = {-1}> "
            "{ s = Shape (x) n = Gather (s, i) u = Unsqueeze (n, a) "
            "t = Concat <axis=0> (u, m) y = Reshape (x, t) }",
            "[N, T]",
        ),
        (
            "(float[N, T] x) => (int64 y) <int64 i = {1}, int64 a = {0}, int64 b = {2}> "
            "{ s = Shape (x) n = Gather (s, i) y = Range (a, n, b) }",
            "[ceil(T/2)]",
        ),
        ("(float[N, T] x) => (int64 y) { y = NonZero (x) }", "[2, ?]"),
        (
            "(float[N, 2, H] x) => (float y) <float[3] s = {1, 1, 1.5}> "
            '{ y = Resize <mode="nearest"> (x, "", s) }',
            "[N, 2, H + floor(H/2)]",
        ),
        (
            "(float[N, T] x) => (float y) <int64[1] a = {-1}, int64[1] b = {9223372036854775807}, "
            "int64[1] d = {1}> { y = Slice (x, a, b, d) }",
            "[N, 1]",
        ),
    ],
)
def test_sizes_follow_from_those_of_the_inputs(text: str, shape: str) -> None:
    assert shape_of(text) == shape


def test_a_size_that_may_mean_something_else_in_a_reshape_stays_unknown() -> None:
    text = (
        "(float[N, T] x, int64[2] s) => (float y, float z) <int64 i = {0}, int64[1] a = {0}, "
        "int64[1] m = {-1}, int64 k = {2}> { y = Reshape (x, s) h = Shape (x) n = Gather (h, i) "
        "d = Sub (n, k) u = Unsqueeze (d, a) t = Concat <axis=0> (u, m) z = Reshape (x, t) }"
    )
    assert shape_of(text) == "[?, ?]"
    assert shape_of(text, "z") == "[?, ?]", "N - 2 is -1 or 0 at some sizes"


def test_a_frozen_example_size_gives_way_and_an_expression_in_the_inputs_symbols_stays() -> None:
    text = "(float[N, 3] x) => (float[N, 3] y) <float[1, 3] t> { t = Neg (x) y = Neg (t) }"
    assert shape_of(text, "t") == "[N, 3]"
    other = "(float[N, 3] x) => (float[unknown_7, 3] y) { y = Neg (x) }"
    assert shape_of(other) == "[N, 3]"


def test_both_branches_have_to_agree() -> None:
    text = (
        "(bool c, float[N, 3] x) => (float y) { y = If (c) <"
        "then_branch = a () => (float t) { t = Neg (x) }, "
        "else_branch = b () => (float e) { e = Concat <axis=1> (x, x) }> }"
    )
    assert shape_of(text) == "[N, ?]"


def test_broken_nodes_leave_shapes_unknown() -> None:
    text = "(float[N, 3] x) => (float y) { t = Transpose <perm=[0, 5]> (x) y = Neg (t) }"
    assert shape_of(text, "t") == "[...]"


# -- never wrong -----------------------------------------------------------------------------


def _backend_cases() -> list[Any]:
    loader = importlib.import_module("onnx.backend.test.loader")
    kinds = ("node", "simple", "pytorch-converted", "pytorch-operator")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [case for kind in kinds for case in loader.load_model_tests(kind=kind)]


@pytest.mark.slow
@pytest.mark.parametrize("symbolic", [False, True], ids=["sizes", "symbols"])
def test_no_shape_is_wrong_in_the_backend_suite(symbolic: bool) -> None:
    wrong, known, total = [], 0, 0
    for case in _backend_cases():
        graph = forget(from_model_proto(_model(case)))
        inputs, outputs = _data_sets(case)[0]
        symbols: dict[str, int] = {}
        for place, (value, array) in enumerate(zip(graph.inputs, inputs, strict=False)):
            if symbolic and value.shape and isinstance(array, np.ndarray):
                named = [Extent.symbol(f"d{place}_{i}") for i in range(len(value.shape))]
                fixed = zip(value.shape, named, strict=True)
                value.shape = tuple(d if d in (0, 1) else extent for d, extent in fixed)
                symbols.update({str(n): s for n, s in zip(named, array.shape, strict=True)})
        infer_shapes(graph)
        for value, array in zip(graph.outputs, outputs, strict=True):
            total += 1
            if value.shape is not None and isinstance(array, np.ndarray):
                known += None not in value.shape
                if differs(value.shape, array, symbols):
                    wrong.append(f"{case.name}: {value} for {array.shape}")
    assert not wrong
    assert known > total * (0.5 if symbolic else 0.65)


def _exported() -> list[tuple[str, list[int]]]:
    report = ZOO / "zoo_report.json"
    rows: list[dict[str, Any]] = json.loads(report.read_text()) if report.exists() else []
    return [
        (f"{row['name']}.{row['kind']}", [k for k, t in enumerate(row["ort"]) if t[0].isdigit()])
        for row in rows
        if row["export"] == "ok"
    ]


@pytest.mark.skipif(not ZOO.exists(), reason="the exported models are not beside this checkout")
def test_exported_models_are_known_almost_everywhere_and_wrong_nowhere() -> None:
    values = complete = 0
    for stem, runs in _exported():
        graph = forget(load(ZOO / f"{stem}.onnx"))
        coverage = infer_shapes(graph)
        values, complete = values + coverage.values, complete + coverage.complete
        data = np.load(ZOO / f"{stem.rsplit('.', 1)[0]}.npz")
        for run in runs:
            names = [v.name for v in graph.inputs if v not in graph.initializers]
            feeds = {name: data[f"in{run}_{name[1:]}"] for name in names}
            assert not wrong_values(graph, feeds), stem
    assert complete > 0.98 * values, f"{complete} of {values}"


def test_inference_gives_the_shapes_of_onnx_for_the_light_models() -> None:
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for path in sorted(folder.glob("*.onnx")):
        proto = onnx.load(path)
        graph = forget(from_model_proto(proto))
        coverage = infer_shapes(graph)
        assert coverage.complete == coverage.values, path.name
        judged = onnx.shape_inference.infer_shapes(proto, strict_mode=True).graph
        for info in judged.value_info:
            dims = info.type.tensor_type.shape.dim
            if all(dim.HasField("dim_value") for dim in dims):
                found = graph.value(info.name).shape
                assert found == tuple(dim.dim_value for dim in dims), (path.name, info.name)
