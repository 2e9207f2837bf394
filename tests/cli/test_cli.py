"""The command line: on files, with --json for machines, and clear words for bad input."""

from __future__ import annotations

import json
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
