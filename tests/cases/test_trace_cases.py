"""Acceptance cases from public reports: trace, export, run at every size, or refuse at the line."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"

_spec = importlib.util.spec_from_file_location("trace_programs", HERE / "trace_programs.py")
assert _spec is not None and _spec.loader is not None
programs = importlib.util.module_from_spec(_spec)
sys.modules["trace_programs"] = programs
_spec.loader.exec_module(programs)

CASES = {name: json.loads((DATA / name / "case.json").read_text()) for name in programs.PROGRAMS}
VALUES = [name for name, case in CASES.items() if case["check"] == "trace"]
ERRORS = [name for name, case in CASES.items() if case["check"] == "trace_error"]


def runs(name: str) -> list[dict[str, np.ndarray]]:
    archive = np.load(DATA / name / "input.npz")
    found: dict[int, dict[str, np.ndarray]] = {}
    for key in archive.files:
        run, _, value = key.partition("/")
        found.setdefault(int(run), {})[value] = archive[key]
    return [found[run] for run in sorted(found)]


def expected(name: str, run: int) -> list[np.ndarray]:
    archive = np.load(DATA / name / "expected.npz")
    return [archive[k] for k in sorted(archive.files) if k.startswith(f"{run}/")]


def axes_of(case: dict[str, Any]) -> dict[str, dict[int, str]]:
    return {n: {int(a): s for a, s in named.items()} for n, named in case["trace"]["axes"].items()}


def traced(name: str) -> om.TracedModel:
    return om.trace(programs.PROGRAMS[name](), axes=axes_of(CASES[name]), **runs(name)[0])


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float) -> None:
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    if tolerance == 0:
        np.testing.assert_array_equal(got, wanted)
    else:
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", VALUES)
def test_the_exported_graph_is_right_at_every_size(name):
    case = CASES[name]
    model = traced(name)
    proto = model.to_onnx()
    onnx.checker.check_model(proto, full_check=True)
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    session = om.Session(model)
    program = programs.PROGRAMS[name]()
    for number, feeds in enumerate(runs(name)):
        wanted = expected(name, number)
        eager = as_list(program(**{k: om.tensor(v) for k, v in feeds.items()}))
        engines = (
            [value.detach().numpy() for value in eager],
            judge.run(None, feeds),
            list(session.run(feeds).values()),
        )
        for results in engines:
            for got, want in zip(results, wanted, strict=True):
                close(np.asarray(got), want, case["tol"])


@pytest.mark.parametrize("name", [n for n in ERRORS if n not in ("K24a", "K31a")])
def test_the_offending_line_is_refused(name):
    case = CASES[name]
    with pytest.raises(om.TraceException) as caught:
        traced(name)
    error = caught.value
    for part in case["error"]:
        assert any(one in str(error) for one in part.split("|"))
    marker = case["trace"]["line_marker"]
    lines = Path(programs.__file__).read_text().splitlines()
    assert marker in lines[error.call_site.line - 1]
    function = {"K54a": "helper"}.get(name, name.lower())
    assert error.call_site.function == function
    chain = case["trace"].get("chain")
    if chain:
        called = [site.function.replace("k54a", "f") for site in error.call_chain]
        assert called == chain


def test_k22a_batch_norm_in_training_mode_names_the_layer():
    with pytest.raises(om.TraceException) as caught:
        om.trace(programs.PROGRAMS["K22a"]().train(), *runs("K22a")[0].values())
    error = caught.value
    assert error.kind is om.TraceErrorKind.UNSUPPORTED_OPERATION
    for part in ("UnsupportedOperation", "BatchNorm", "norm", "eval()"):
        assert part in str(error)


def test_k24a_a_symbol_of_size_one_is_refused_at_its_declaration():
    with pytest.raises(om.TraceException) as caught:
        traced("K24a")
    for part in (*CASES["K24a"]["error"], "'x'"):
        assert part in str(caught.value)


def test_k29a_unused_inputs_stay_in_order():
    graph = traced("K29a").graph
    assert [value.name for value in graph.inputs] == ["x", "unused", "z"]


def test_k31a_a_second_input_of_the_same_name_is_refused():
    (feeds,) = runs("K31a")
    with om.Tracer.begin() as tracer:
        x = tracer.input("x", feeds["x"])
        with pytest.raises(om.TraceException) as caught:
            tracer.input("x", feeds["x2"])
        for part in json.loads((DATA / "K31a" / "case.json").read_text())["error"]:
            assert part in str(caught.value)
        upper = tracer.input("X", feeds["x2"])
        tracer.finish({"y": x + upper})


def test_k10a_no_constant_carries_the_example_batch():
    graph = traced("K10a").graph
    for value, array in graph.initializers.items():
        assert 2 not in array.shape[1:2] or value.name.startswith("lstm")
        if array.dtype == np.int64:
            assert 2 not in array.ravel()[:1]


def test_k56a_the_same_program_gives_the_same_bytes_in_another_process(tmp_path):
    program = (
        "import sys, pathlib; sys.path[:0] = [sys.argv[1], sys.argv[1] + '/tests/cases']\n"
        "import hashlib, numpy as np, onemodel as om, trace_programs\n"
        "x = np.arange(6, dtype=np.float32).reshape(2, 3)\n"
        "data = om.trace(trace_programs.k56a, x, axes=[('N', None)]).to_bytes()\n"
        "print(hashlib.sha256(data).hexdigest())\n"
    )
    root = str(HERE.parents[1])
    hashes = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program, root],
            cwd=tmp_path if seed == "0" else root,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        hashes.add(done.stdout.strip())
    assert len(hashes) == 1


def test_k58a_dimensions_carry_the_declared_names():
    proto = traced("K58a").to_onnx()
    dims = [
        [d.dim_param or d.dim_value for d in out.type.tensor_type.shape.dim]
        for out in (*proto.graph.input, *proto.graph.output)
    ]
    assert dims == [["B", "S"], ["B", "S", 6], ["B*S", 6]]
