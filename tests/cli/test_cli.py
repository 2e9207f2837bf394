"""The command line: on files, with --json for machines, and clear words for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import onemodel as om
from onemodel.cli import main

MODEL = """
import onemodel as om
from onemodel import nn

om.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def branch(x):
    if x.sum() > 0:
        return x
    return -x


def boom(x):
    raise RuntimeError("my own words")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    model = om.nn.Sequential(om.nn.Linear(4, 8), om.nn.ReLU())
    traced = om.trace(model, om.ones(3, 4), axes=[{0: "batch"}])
    traced.save_onnx(tmp_path / "m.onnx")
    traced.save(tmp_path / "m.om")
    return tmp_path


def call(*arguments: object, status: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == status, result.output
    return result


@pytest.mark.parametrize("name", ["m.onnx", "m.om"])
def test_inspect_tells_inputs_axes_and_operators(folder, name):
    text = call("inspect", folder / name).output
    assert "float32[batch, 4]" in text and "1 x Relu" in text
    facts = json.loads(call("inspect", folder / name, "--json").output)
    assert facts["inputs"] == [{"name": "x", "dtype": "float32", "shape": ["batch", 4]}]
    assert facts["operators"] == {"Gemm": 1, "Relu": 1}


def test_run_takes_files_and_writes_results(folder):
    x = np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)
    np.save(folder / "x.npy", x)
    for provider in ("onemodel", "onnxruntime"):
        call("run", folder / "m.onnx", "-i", f"x={folder / 'x.npy'}", "-o", folder / provider,
             "--provider", provider)  # fmt: skip
    one, two = (np.load(folder / p / "output_0.npy") for p in ("onemodel", "onnxruntime"))
    assert one.shape == (5, 8)
    np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    facts = json.loads(call("run", folder / "m.om", "-s", "batch=7", "--json").output)
    assert facts[0]["shape"] == [7, 8]


def test_compare_agrees_and_says_so(folder):
    assert "all agree" in call("compare", folder / "m.onnx").output
    assert json.loads(call("compare", folder / "m.onnx", "--json").output)


def test_trace_writes_a_model_or_refuses_with_the_line(folder):
    out = folder / "net.onnx"
    text = call(
        "trace", f"{folder / 'model.py'}:net", "-i", "x:float32[batch=3,4]", "-o", out
    ).output
    assert "verified" in text and out.exists()
    refused = call(
        "trace", f"{folder / 'model.py'}:branch", "-i", "x:float32[3]", "--json", status=1
    )
    facts = json.loads(refused.output)
    assert facts["code"] == "OM101" and facts["call_site"]["expression"] == "x.sum() > 0"


def test_limits_lists_the_codes_and_teaches_one():
    assert "OM101  DataDependent" in call("limits").output
    assert "om.where" in call("limits", "OM101").output
    assert call("limits", "om101").output == call("limits", "OM101").output
    assert len(json.loads(call("limits", "--json").output)) > 40


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", "no.onnx"], "does not exist"),
        (["limits", "OM999"], "no code OM999"),
        (["run", "{m}", "-i", "y=x.npy"], "no input is named 'y'"),
        (["run", "{m}", "-s", "batch"], "not NAME=VALUE"),
        (["trace", "{f}:nothing"], "no function or module named"),
        (["trace", "nowhere:f"], "not FILE.py:NAME"),
        (["trace", "{f}:net", "-i", "x[3]"], "name:dtype[sizes]"),
        (["trace", "{f}:net", "-i", "x:float99[3]"], "no dtype|not a dtype"),
        (["inspect", "{f}"], "model.py"),
    ],
)
def test_bad_input_is_told_in_words(folder, arguments, words):
    filled = [a.format(m=folder / "m.onnx", f=folder / "model.py") for a in arguments]
    result = CliRunner().invoke(main, filled)
    assert result.exit_code in (1, 2)
    assert any(word in result.output for word in words.split("|")), result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run {d}/m.onnx -s bath=3", "no symbol 'bath'; there are: batch"),
        ("run {d}/m.onnx -s batch=x", "'x' is no size of batch"),
        ("run {d}/m.onnx -s batch=0", "1 or more"),
        ("compare {d}/m.onnx --tolerance 0", "x>0"),
        ("compare {d}/m.onnx -a session -a nobody", "nobody"),
        ("run {d}/m.onnx -i x={d}/nope.npy", "No such file"),
        ("run {d}/m.onnx -i x={d}/text.npy", "text.npy is no .npy file"),
        ("run {d}/m.onnx -i x={d}/objects.npy", "Python objects"),
        ("run {d}/m.onnx -i x={d}/double.npy", "float64"),
        ("run {d}/m.onnx -i x={d}/wide.npy", "[3, 9]"),
        ("run {d}/m.onnx -i x={d}/wide.npy --provider onnxruntime", "9"),
        ("compare {d}/m.onnx -i x={d}/wide.npy", "[3, 9]"),
        ("trace {d}/model.py:branch", "missing a required argument: 'x'"),
        ("trace {d}/model.py:branch -i y:float32[3]", "do not fit"),
        ("trace {d}/model.py:Class -i x:float32[3]", "no function or module"),
        ("trace {d}/classes.py:Net -i x:float32[3]", "Net is a class"),
        ("trace {d}/broken.py:f", "broken.py:1: ZeroDivisionError"),
        ("trace {d}/model.py:boom -i x:float32[3]", "RuntimeError: my own words"),
        ("trace {d}/model.py:net -i x:float32[3,4] -o {d}/no/o.onnx", "does not exist"),
        ("trace {d}/model.py:net -i x:float32[3,4] -o {d}/o.txt", "neither .onnx nor .om"),
    ],
)
def test_what_cannot_be_used_ends_with_status_2_and_one_error(folder, arguments, words):
    (folder / "text.npy").write_text("1 2 3")
    (folder / "classes.py").write_text("class Net:\n    pass\n")
    (folder / "broken.py").write_text("1 / 0\n")
    np.save(folder / "objects.npy", np.array([{}], dtype=object))
    np.save(folder / "double.npy", np.zeros((3, 4)))
    np.save(folder / "wide.npy", np.zeros((3, 9), np.float32))
    result = call(*(a.format(d=folder) for a in arguments.split()), status=2)
    assert isinstance(result.exception, SystemExit)
    assert "Error: " in result.output
    assert words in " ".join(result.output.split()), result.output
    assert "allow_pickle" not in result.output


def test_a_refusal_shows_no_frames_of_the_command(folder):
    place = f"{folder / 'model.py'}"
    option = call("trace", f"{place}:net", "-i", "x:float32[3,4]", "--opset", 3, status=1).output
    assert "OM510" in option and "-->" not in option and "click" not in option
    refused = call("trace", f"{place}:branch", "-i", "x:float32[3]", status=1).output
    assert f"--> {place}:" in refused and "click" not in refused


def test_a_target_finds_its_neighbours_and_replaces_no_module(folder):
    (folder / "neighbour_of_target.py").write_text("def twice(x):\n    return x * 2\n")
    (folder / "json.py").write_text("from neighbour_of_target import twice\n")
    before = list(sys.path)
    call("trace", f"{folder / 'json.py'}:twice", "-i", "x:float32[3]", "--json")
    assert sys.modules["json"] is json and sys.path == before


def test_the_package_runs_as_a_module():
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "onemodel", "limits", "OM101"],
        cwd=root, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and "OM101" in done.stdout, done.stderr
