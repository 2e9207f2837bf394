"""Whole models, traced with symbolic axes and judged at the traced and at two other sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel import nn


class DigitsCnn(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.GELU(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.head = nn.Linear(16, 10)

    def forward(self, image):
        return self.head(self.features(image).flatten(1)).softmax(-1)


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, 32), nn.SiLU(), nn.LayerNorm(32), nn.Dropout(0.1), nn.Linear(32, 4)
        )

    def forward(self, x):
        return self.layers(x).log_softmax(-1)


class Encoder(nn.Module):
    """Token and position embeddings, causal mask, two layers: everyday code."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(20, 16)
        self.positions = nn.Embedding(32, 16)
        layer = [nn.TransformerEncoderLayer(16, 2, 24, batch_first=True) for _ in range(2)]
        self.layers = nn.ModuleList(layer)
        self.out = nn.Linear(16, 20)

    def forward(self, ids):
        time = ids.shape[1]
        h = self.tokens(ids) + self.positions(om.arange(time))
        for layer in self.layers:
            h = layer(h)
        return self.out(h)


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 6, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(12, 5)

    def forward(self, ids):
        states, (h, c) = self.lstm(self.embedding(ids))
        return self.out(states), h, c


def images(n: int, height: int = 8, width: int = 8) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 1, height, width)).astype(np.float32)


def rows(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 8)).astype(np.float32)


def ids(batch: int, time: int) -> np.ndarray:
    return np.random.default_rng(batch).integers(0, 20, size=(batch, time))


@dataclass(frozen=True)
class Model:
    build: Callable[[], nn.Module]
    axes: Any
    inputs: tuple[np.ndarray, ...]

    def __str__(self) -> str:
        return self.build.__name__


MODELS = (
    Model(DigitsCnn, [{0: "batch"}], (images(3), images(1), images(11))),
    Model(
        DigitsCnn,
        [{0: "batch", 2: "height", 3: "width"}],
        (images(3, 12, 10), images(2, 8, 14), images(5, 9, 9)),
    ),
    Model(Mlp, [{0: "batch"}], (rows(3), rows(1), rows(17))),
    Model(Encoder, [{0: "batch", 1: "time"}], (ids(3, 7), ids(1, 12), ids(5, 2))),
    Model(Tagger, [{0: "batch", 1: "time"}], (ids(3, 7), ids(1, 12), ids(5, 2))),
)


def scaled_difference(got: np.ndarray, wanted: np.ndarray) -> float:
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    return float(np.abs(got - wanted).max() / max(1.0, np.abs(wanted).max()))


@pytest.mark.parametrize(
    ("model", "opset"),
    [(m, n) for m in MODELS for n in (9, 12, 13, 17, 20, 23)],
    ids=str,
)
def test_the_graph_equals_eager_at_the_traced_and_two_other_sizes(model, opset):
    module = model.build().eval()
    traced = om.trace(module, model.inputs[0], axes=model.axes)
    proto = traced.to_onnx(opset=opset)
    onnx.checker.check_model(proto, full_check=True)
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    session = om.Session(proto)
    (name,) = [value.name for value in traced.graph.inputs]
    for example in model.inputs:
        eager = module(om.tensor(example))
        wanted = [t.detach().numpy() for t in (eager if isinstance(eager, tuple) else (eager,))]
        for results in (
            judge.run(None, {name: example}),
            list(session.run({name: example}).values()),
        ):
            for got, want in zip(results, wanted, strict=True):
                assert scaled_difference(np.asarray(got), want) < 1e-5


def test_weights_carry_their_state_dict_paths_and_nodes_their_module():
    module = DigitsCnn().eval()
    graph = om.trace(module, images(3), axes=[{0: "batch"}]).graph
    names = {value.name for value in graph.initializers}
    assert {"features.0.weight", "features.4.bias", "head.weight"} <= names
    scopes = {node.origin.scope for node in graph.nodes if node.origin}
    assert {"features.0", "features.1", "head"} <= scopes


def test_a_symbolic_batch_is_verified_at_other_sizes():
    traced = om.trace(Mlp().eval(), rows(3), axes={"x": {0: "batch"}})
    assert traced.verification.startswith("verified: the same graph and eager's values at batch=")
    unverified = om.trace(Mlp().eval(), rows(3), axes={"x": {0: "batch"}}, verify=False)
    assert unverified.verification == "not verified: verify=False"


def test_equal_traces_give_equal_bytes():
    module = Encoder().eval()
    first = om.trace(module, ids(3, 7), axes=[{0: "batch", 1: "time"}])
    again = om.trace(module, ids(3, 7), axes=[{0: "batch", 1: "time"}])
    assert first.to_bytes() == again.to_bytes()
