"""A fault is named where it begins; what follows from it is told as inherited."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import onemodel.compare
from onemodel.compare import DifferenceClass, compare, save_repro
from onemodel.compare.engines import subject_of
from onemodel.compare.opsets import unconvertible
from onemodel.onnx_io import reader
from onemodel.session.session import Session

WIDTH = 6


def mlp(layers: int = 4, scale: float = 0.5, residual: bool = True) -> onnx.ModelProto:
    """x @ w + b, relu, a residual add, and a scale at the end of each layer."""
    rng = np.random.default_rng(7)
    nodes, weights, value = [], [], "x"
    for i in range(layers):
        weights += [
            numpy_helper.from_array(rng.standard_normal((WIDTH, WIDTH), np.float32), f"w{i}"),
            numpy_helper.from_array(rng.standard_normal(WIDTH, np.float32), f"b{i}"),
            numpy_helper.from_array(np.float32(scale), f"s{i}"),
        ]
        nodes += [
            helper.make_node("MatMul", [value, f"w{i}"], [f"m{i}"], f"matmul{i}"),
            helper.make_node("Add", [f"m{i}", f"b{i}"], [f"a{i}"], f"bias{i}"),
            helper.make_node("Relu", [f"a{i}"], [f"r{i}"], f"relu{i}"),
            helper.make_node("Add", [f"r{i}", value], [f"t{i}"], f"skip{i}"),
            helper.make_node("Mul", [f"t{i}", f"s{i}"], [f"y{i}"], f"scale{i}"),
        ]
        value = f"y{i}"
    graph = helper.make_graph(
        nodes,
        "mlp",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", WIDTH])],
        [helper.make_tensor_value_info(value, TensorProto.FLOAT, ["batch", WIDTH])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


X = np.random.default_rng(1).standard_normal((3, WIDTH)).astype(np.float32)


def values_of(model: onnx.ModelProto, x: np.ndarray = X) -> dict[str, np.ndarray]:
    report = compare(model, {"x": x}, against=("onnxruntime", "session"))
    return dict(report.arrays["onnxruntime"])


def test_session_and_onnxruntime_agree_on_every_value_of_a_healthy_model():
    report = compare(mlp(), {"x": X}, against=("session", "onnxruntime"))
    assert report.agrees
    assert report.first_introduced is None
    assert [row.value for row in report.rows][:5] == ["m0", "a0", "r0", "t0", "y0"]
    assert len(report.rows) == 20
    assert report.reference == "session"
    assert report.columns == ("onnxruntime",)
    assert "all agree" in str(report)


@pytest.mark.parametrize("layer", range(4))
@pytest.mark.parametrize("op", ["matmul", "bias", "relu", "skip", "scale"])
def test_a_fault_planted_in_any_node_is_named_exactly(layer, op):
    """The fault is another operator in that very node, seen only by ONNX Runtime."""
    healthy, faulty = mlp(), mlp()
    known = values_of(healthy)
    node = next(n for n in faulty.graph.node if n.name == f"{op}{layer}")
    node.op_type = {"MatMul": "MatMul", "Add": "Sub", "Relu": "Elu", "Mul": "Div"}[node.op_type]
    if op == "matmul":
        weight = next(w for w in faulty.graph.initializer if w.name == f"w{layer}")
        array = numpy_helper.to_array(weight).copy()
        array[0, 0] += 0.01
        weight.CopyFrom(numpy_helper.from_array(array, weight.name))
    report = compare(faulty, {"x": X}, against=(("healthy", known), "session", "onnxruntime"))
    for label in ("session", "onnxruntime"):
        first = report.first(label)
        assert first is not None
        assert first.node.name == f"{op}{layer}"
        assert sum(row.introduced[label] for row in report.rows) == 1
        place = [row.value for row in report.rows].index(first.value)
        assert all(row.status(label) in ("equal", "close") for row in report.rows[:place])


def test_what_follows_from_a_fault_is_inherited():
    known = values_of(mlp())
    faulty = mlp()
    weight = next(w for w in faulty.graph.initializer if w.name == "s1")
    weight.CopyFrom(numpy_helper.from_array(np.float32(0.5001), "s1"))
    report = compare(faulty, {"x": X}, against=(("healthy", known), "session"))
    assert report.first_introduced is not None
    assert report.first_introduced.node.name == "scale1"
    assert report.row("m2").status("session") == "inherited"
    assert report.row("y3").status("session") == "inherited"
    assert "Mul scale1" in str(report)


def test_each_value_comes_from_one_run_per_engine(monkeypatch):
    import onnxruntime

    runs = []
    original = onnxruntime.InferenceSession.run

    def counted(self, *args, **kwargs):
        runs.append(args)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(onnxruntime.InferenceSession, "run", counted)
    compare(mlp(), {"x": X}, against=("session", "onnxruntime"))
    assert len(runs) == 1


def test_arrays_brought_by_name_may_be_few_and_are_told_from_missing():
    known = values_of(mlp())
    brought = {"y0": known["y0"], "y3": known["y3"] + np.float32(1)}
    report = compare(mlp(), {"x": X}, against=("session", ("torch", brought)))
    assert report.row("y0").differences["torch"].kind is DifferenceClass.EQUAL
    assert report.row("m1").status("torch") == "missing"
    first = report.first_introduced
    assert first is not None
    assert first.value == "y3"


def test_a_difference_is_inherited_across_values_a_column_does_not_have():
    known = values_of(mlp())
    brought = {"y0": known["y0"] + 1, "y2": known["y2"] + 1}
    report = compare(mlp(), {"x": X}, against=("session", brought))
    assert report.row("y0").introduced["given"]
    assert report.row("y2").status("given") == "inherited"


def test_a_difference_is_inherited_across_values_the_reference_does_not_have():
    known = values_of(mlp())
    brought = {"y0": known["y0"] + 1, "y2": known["y2"] + 1, "y3": known["y3"]}
    report = compare(mlp(), {"x": X}, against=(brought, "session"))
    assert report.row("y0").introduced["session"]
    assert report.row("m1").reference == "session"
    assert report.row("y2").status("session") == "inherited"
    assert sum(row.introduced["session"] for row in report.rows) == 1


def test_a_column_that_agrees_with_a_sound_substitute_of_the_reference_starts_anew():
    known = values_of(mlp())
    brought = {"y0": known["y0"], "y1": known["y1"], "y3": known["y3"]}
    other = {**known, "y0": known["y0"] + 1, "y3": known["y3"] + 1}
    report = compare(mlp(), {"x": X}, against=(brought, "session", ("other", other)))
    assert [row.value for row in report.rows if row.introduced["other"]] == ["y0", "y3"]


def test_classes_other_than_numbers_are_found_in_a_column():
    known = values_of(mlp())
    brought = dict(known)
    brought["m0"] = known["m0"].astype(np.float64)
    brought["a1"] = known["a1"][:1]
    brought["r2"] = np.where(known["r2"] == known["r2"].max(), np.nan, known["r2"])
    brought["r2"] = brought["r2"].astype(np.float32)
    brought["r3"] = np.full_like(known["r3"], np.inf)
    report = compare(mlp(), {"x": X}, against=("onnxruntime", brought))
    kinds = {v: report.row(v).differences["given"].kind for v in ("m0", "a1", "r2", "r3")}
    assert kinds == {
        "m0": DifferenceClass.DTYPE,
        "a1": DifferenceClass.SHAPE,
        "r2": DifferenceClass.NAN,
        "r3": DifferenceClass.INFINITY,
    }


def test_another_model_can_be_a_column():
    other = mlp()
    weight = next(w for w in other.graph.initializer if w.name == "b2")
    weight.CopyFrom(numpy_helper.from_array(np.zeros(WIDTH, np.float32), "b2"))
    report = compare(mlp(), {"x": X}, against=("session", ("edited", other)))
    assert report.first_introduced is not None
    assert report.first_introduced.node.name == "bias2"


def traced(model: onnx.ModelProto, repeatable: bool = True) -> SimpleNamespace:
    """What compare asks of a trace whose example was X."""

    def eager_values(feeds):
        if not repeatable and not np.array_equal(feeds["x"], X):
            raise ValueError("a low-level trace has no function to run on other inputs")
        return values_of(model, feeds["x"])

    graph = reader.from_model_proto(model)
    return SimpleNamespace(graph=graph, values={"x": X}, eager_values=eager_values)


def test_eager_values_are_the_reference_and_the_example_is_fed_by_itself():
    report = compare(traced(mlp()), against=("eager", "session", "onnxruntime"))
    assert report.reference == "eager"
    assert report.agrees
    assert np.array_equal(report.feeds["x"], X)


def test_eager_values_at_other_feeds_are_omitted_where_the_trace_cannot_be_repeated():
    x = np.concatenate([X, X])
    assert compare(traced(mlp()), {"x": x}).reference == "eager"
    report = compare(traced(mlp(), repeatable=False), {"x": x})
    assert report.reference == "session"
    assert "no function to run" in report.failures["eager"]


def test_values_without_an_eager_array_are_judged_by_the_next_column():
    model = traced(mlp())
    known = {name: array for name, array in values_of(mlp()).items() if name != "m1"}
    model.eager_values = lambda feeds: known
    report = compare(model)
    assert report.row("m1").reference == "session"
    assert report.agrees


def test_a_nan_is_introduced_where_it_first_appears_even_after_a_smaller_difference():
    brought = values_of(mlp())
    brought["m1"] = brought["m1"] * np.float32(1.01)
    brought["y1"] = np.full_like(brought["y1"], np.nan)
    brought["m2"] = np.full_like(brought["m2"], np.nan)
    report = compare(mlp(), {"x": X}, against=("session", brought))
    assert report.row("m1").introduced["given"]
    assert report.row("y1").introduced["given"]
    assert not report.row("m2").introduced["given"]


def test_onnxruntime_absent_is_told_and_the_rest_is_compared(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    known = {**dict.fromkeys(["x"], X)}
    report = compare(mlp(), {"x": X}, against=("session", ("given", known), "onnxruntime"))
    assert "pip install onnxruntime" in report.failures["onnxruntime"]


def test_wrong_feeds_and_engines_are_refused_with_their_names():
    with pytest.raises(ValueError, match="no array for input 'x'; no input named 'y'"):
        compare(mlp(), {"y": X})
    with pytest.raises(ValueError, match="no engine named 'tensorrt'"):
        compare(mlp(), {"x": X}, against=("session", "tensorrt"))
    with pytest.raises(ValueError, match="at least two columns"):
        compare(mlp(), {"x": X}, against=("session",))
    with pytest.raises(TypeError, match="cannot compare against a int"):
        compare(mlp(), {"x": X}, against=("session", 3))
    with pytest.raises(TypeError, match="cannot take a dict for a model"):
        compare({})


def test_a_path_is_read_and_run_as_the_file_it_is(tmp_path):
    path = tmp_path / "mlp.onnx"
    onnx.save(mlp(), str(path))
    assert compare(path, {"x": X}, against=("session", "onnxruntime")).agrees
    assert subject_of(str(path)).graph.name == "mlp"


def test_the_report_is_json_markdown_and_text_without_arrays():
    brought = {"y0": values_of(mlp())["y0"] + 1}
    report = compare(mlp(), {"x": X}, against=("session", ("a|b", brought)))
    data = json.loads(json.dumps(report.to_dict()))
    assert data["first_introduced"] == "y0"
    assert data["rows"][4]["differences"]["a|b"]["status"] == "introduced here"
    table = report.to_markdown()
    assert "&#124;" in table
    assert len({line.count("|") for line in table.splitlines() if line.startswith("|")}) == 1


def test_the_package_itself_can_be_called():
    report = onemodel.compare(mlp(), {"x": X}, against=("session", "onnxruntime"))
    assert report.agrees


@pytest.mark.parametrize("name", ["bias1", "../../up", 'a"b:c\n'])
def test_a_repro_folder_runs_by_itself_and_holds_the_node_alone(name, tmp_path):
    model = mlp()
    next(n for n in model.graph.node if n.name == "bias1").name = name
    brought = values_of(mlp())
    brought["a1"] = brought["a1"] + np.float32(0.25)
    report = compare(model, {"x": X}, against=(("torch", brought), "session"))
    folder = save_repro(report, tmp_path / "repro")
    assert sorted(p.name for p in folder.iterdir()) == [
        "inputs.npz",
        "model.onnx",
        "names.json",
        "node.onnx",
        "operands.npz",
        "reference.npz",
        "report.json",
        "report.md",
        "run.py",
    ]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["repro"]
    done = subprocess.run(
        [sys.executable, str(folder / "run.py")],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith("model.onnx: 'y3': largest absolute difference")
    assert lines[1] == "node.onnx: 'a1': largest absolute difference 0.25"


def test_a_repro_of_a_report_that_agrees_has_no_node(tmp_path):
    report = compare(mlp(), {"x": X}, against=("session", "onnxruntime"))
    names = {path.name for path in save_repro(report, tmp_path).iterdir()}
    assert "node.onnx" not in names
    assert "model.onnx" in names


BOTH = ("session", "onnxruntime")


def test_a_given_array_of_no_value_is_refused_with_near_names():
    with pytest.raises(ValueError, match=r"no value of the graph is named 'mm0'.*'m0'"):
        compare(mlp(), {"x": X}, against=["session", {"mm0": X}])
    with pytest.raises(ValueError, match="no value of the graph is named 'nope'"):
        compare(mlp(), {"x": X}, against=["session", ("mine", {"nope": X})])


def test_a_column_of_which_nothing_was_compared_does_not_agree():
    report = compare(mlp(), {"x": X}, against=["session", {"x": X}])
    assert not report.agrees
    assert not any(report.differing())
    assert "given: nothing was compared" in str(report)
    assert "all agree" not in str(report)
    mixed = compare(mlp(), {"x": X}, against=[*BOTH, {}])
    assert not mixed.agrees
    assert "nothing was compared for given, the others agree" in str(mixed)


def test_an_engine_that_did_not_run_is_no_agreement():
    report = compare(mlp(), {"x": X}, against=("eager", *BOTH))
    assert "no eager code" in report.failures["eager"]
    assert not report.agrees
    assert "all agree" not in str(report)


def test_eager_code_is_not_asked_for_by_default_where_there_is_none():
    report = compare(mlp(), {"x": X})
    assert report.failures == {}
    assert report.agrees


def test_an_unknown_engine_is_refused_before_anything_runs():
    words = (
        "no engine named 'onnxruntim'; there are eager, session, session:passes, session:exact, "
    )
    with pytest.raises(ValueError, match=words):
        compare(mlp(), {"x": X}, against=("session", "onnxruntime", "onnxruntim"))


@pytest.mark.parametrize("against", ["eager", ["eager"], {}, []])
def test_one_column_is_too_few(against):
    with pytest.raises(ValueError, match="at least two columns"):
        compare(traced(mlp()), against=against)


@pytest.mark.parametrize("tolerance", [0, -1e-5, float("nan")])
def test_a_tolerance_is_above_zero(tolerance):
    with pytest.raises(ValueError, match=r"tolerance is .*above 0"):
        compare(mlp(), {"x": X}, against=BOTH, tolerance=tolerance)


@pytest.mark.parametrize("feeds", [X, [X]])
def test_feeds_that_are_no_dict_are_refused(feeds):
    with pytest.raises(TypeError, match=r"feeds is a dict .*feeds=\{'x': array\}"):
        compare(mlp(), feeds, against=BOTH)


def test_missing_feeds_are_told_with_dtype_and_shape():
    with pytest.raises(ValueError) as caught:
        compare(mlp(), against=BOTH)
    assert "'x': float32[batch, 6]" in str(caught.value)
    assert "feeds={'x': array}" in str(caught.value)


def test_a_report_and_a_session_are_no_model():
    report = compare(mlp(), {"x": X}, against=BOTH)
    for other in (report, Session(mlp())):
        with pytest.raises(TypeError, match=f"{type(other).__name__} for a model"):
            compare(other)
    with pytest.raises(TypeError, match="operators from a Report"):
        unconvertible(report)
