"""The zoo: graphs that are right at every size, or refusals at the line that cannot be followed."""

from __future__ import annotations

import csv
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import onemodel as om
from tests.zoo import outcomes, small
from tests.zoo.architectures import ARCHITECTURES, Architecture
from tests.zoo.torch_weights import torch_state

FILES = Path(__file__).resolve().parents[3] / "shared" / "zoo"

RIGHT = [architecture for architecture in ARCHITECTURES if not architecture.refused]
REFUSED = [architecture for architecture in ARCHITECTURES if architecture.refused]

# Where the names are, and the recurrent nodes.
TORCHSCRIPT = ("lstm_tagger", "gru_tagger", "rnn_tagger", "lstm_state", "wavenet1d")


@pytest.mark.parametrize("architecture", RIGHT, ids=str)
def test_the_graph_is_right_at_every_size(architecture: Architecture) -> None:
    found = outcomes.outcome(architecture)
    if found.refusal is not None:
        raise found.refusal
    assert set(found.results) == {"right"}, found.results


@pytest.mark.parametrize("architecture", REFUSED, ids=str)
def test_what_a_graph_cannot_hold_is_refused_at_its_line(architecture: Architecture) -> None:
    refusal = outcomes.outcome(architecture).refusal
    assert refusal is not None and refusal.code == architecture.refused
    site = refusal.call_site
    assert site is not None
    lines, first = inspect.getsourcelines(type(architecture.module()).forward)
    assert [site.line] == [first + i for i, line in enumerate(lines) if "# offence" in line]
    assert site.expression and site.expression in lines[site.line - first]


def test_no_more_nodes_than_the_exporters_of_pytorch_need() -> None:
    others = outcomes.peers()
    found = {a.name: outcomes.outcome(a).nodes for a in RIGHT}
    for place in (0, 1):
        common = [name for name in found if others[name][place].nodes]
        theirs = sum(others[name][place].nodes for name in common)
        assert sum(found[name] for name in common) < theirs * (0.5, 0.8)[place]
    # One node for each BatchNorm, which those exporters fold into the convolution before it,
    # and an equal call of the user's is written again.
    more = {"resnet18ish": 15, "mobilenetish": 9, "gcn_index_add": 2}
    for name, nodes in found.items():
        assert nodes <= others[name][1].nodes + more.get(name, 1), name


@pytest.mark.parametrize("architecture", ARCHITECTURES, ids=str)
def test_eager_and_graph_equal_pytorch(architecture: Architecture) -> None:
    kind = "ts" if architecture.name in TORCHSCRIPT else "dy"
    file, arrays = FILES / f"{architecture.name}.{kind}.onnx", FILES / f"{architecture.name}.npz"
    if not arrays.exists():
        pytest.skip("the files of PyTorch's exporters are not here")
    model = architecture.module()
    if model.state_dict():
        model.load_state_dict(torch_state(model, file))
    saved = np.load(arrays)
    proto = None
    if not architecture.refused:
        inputs = architecture.draw(architecture.traced)
        proto = om.trace(model, *inputs, axes=list(architecture.axes)).to_onnx()
    for number in range(3):
        inputs = [saved[f"in{number}_{i}"] for i in range(len(architecture.inputs))]
        wanted = [saved[name] for name in saved.files if name.startswith(f"out{number}_")]
        runs = [outcomes.eager(model, inputs)]
        if proto is not None:
            runs += outcomes.graph_results(proto, inputs)
        for results in runs:
            for got, want in zip(results, wanted, strict=True):
                assert got.shape == want.shape and got.dtype == want.dtype
                assert outcomes.difference(got, want) < 1e-5


def test_the_other_exporters_are_quoted_as_they_were_measured() -> None:
    report = FILES / "zoo_report.json"
    if not report.exists():
        pytest.skip("the report on PyTorch's exporters is not here")
    quoted = outcomes.peers()
    assert list(quoted) == [architecture.name for architecture in ARCHITECTURES]
    for row in json.loads(report.read_text()):
        peer = quoted[row["name"]][row["kind"] == "dy"]
        if row["export"] != "ok":
            assert peer == outcomes.Peer(0, "refused")
            continue
        words = []
        for text in row["ort"]:
            loud = text.startswith("RUN")
            words.append("right" if text[0].isdigit() else "fails" if loud else "wrong")
        assert peer == outcomes.Peer(row["nodes"], " ".join(words))


def test_the_page_counts_what_the_table_holds() -> None:
    page = outcomes.page()
    assert f"| **OneModel** | {len(RIGHT)} | {len(REFUSED)} | 0 |" in page
    rows = [line for line in page.splitlines() if line.startswith(f"| {ARCHITECTURES[0].name}")]
    assert len(rows) == 1
    with outcomes.PEERS.open(encoding="utf-8", newline="") as file:
        assert sum(1 for _ in csv.reader(file)) == 1 + len(ARCHITECTURES)


def test_a_graph_that_only_fits_the_example_would_be_called_wrong() -> None:
    model = small.BranchOnShape()
    example = np.ones((2, 8, 3), np.float32)
    proto = om.trace(model, example).to_onnx()
    for size in proto.graph.input[0].type.tensor_type.shape.dim:
        size.dim_param = "free"
    del proto.graph.value_info[:]
    short = np.random.default_rng(0).normal(size=(2, 4, 3)).astype(np.float32)
    results = next(outcomes.graph_results(proto, [short]))
    (wanted,) = outcomes.eager(model, [short])
    assert outcomes.difference(results[0], wanted) > outcomes.TOLERANCE
