"""LSTM, GRU and RNN against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onemodel.kernels import _table
from tests.kernels.onnxruntime_node import agree

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
EXTRAS: dict[str, dict[str, dict[str, Any]]] = {
    "LSTM": {
        "plain": {},
        "clip": {"clip": 0.7},
        "input_forget": {"input_forget": 1},
        "activations": {"activations": ["HardSigmoid", "Relu", "Softsign"]},
    },
    "GRU": {
        "plain": {},
        "clip": {"clip": 0.7},
        "linear_before_reset": {"linear_before_reset": 1},
        "activations": {
            "activations": ["HardSigmoid", "LeakyRelu"],
            "activation_alpha": [0.3, 0.02],
            "activation_beta": [0.4],
        },
    },
    "RNN": {
        "plain": {},
        "clip": {"clip": 0.7},
        "activations": {
            "activations": ["Affine"],
            "activation_alpha": [0.5],
            "activation_beta": [0.1],
        },
    },
}


def inputs(
    node_type: str, directions: int, bias: bool, lengths: bool, initial: bool, peepholes: bool
) -> list[np.ndarray | None]:
    random = np.random.RandomState(5)
    steps, batch, size, hidden, gates = 5, 3, 4, 6, GATES[node_type]

    def normal(*shape: int) -> np.ndarray:
        return (random.randn(*shape) * 0.5).astype(np.float32)

    given: list[np.ndarray | None] = [
        normal(steps, batch, size),
        normal(directions, gates * hidden, size),
        normal(directions, gates * hidden, hidden),
        normal(directions, 2 * gates * hidden) if bias else None,
        np.array([5, 2, 3], np.int32) if lengths else None,
        normal(directions, batch, hidden) if initial else None,
    ]
    if node_type == "LSTM":
        given.append(normal(directions, batch, hidden) if initial else None)
        given.append(normal(directions, 3 * hidden) if peepholes else None)
    while given[-1] is None:
        given.pop()
    return given


def cases() -> list[tuple[str, str]]:
    return [(node_type, extra) for node_type, extras in EXTRAS.items() for extra in extras]


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("node_type, extra", cases())
@pytest.mark.parametrize("lengths", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_recurrent_nodes(
    node_type: str, extra: str, direction: str, lengths: bool, full: bool
) -> None:
    directions = 2 if direction == "bidirectional" else 1
    attributes = {
        name: value * directions if isinstance(value, list) else value
        for name, value in EXTRAS[node_type][extra].items()
    }
    given = inputs(node_type, directions, full, lengths, full, peepholes=False)
    outputs = 3 if node_type == "LSTM" else 2
    for opset in (7, 14, 22):
        agree(
            node_type,
            opset,
            given,
            outputs,
            tolerance=2e-5,
            direction=direction,
            hidden_size=6,
            **attributes,
        )


def test_lstm_peepholes() -> None:
    given = inputs("LSTM", 1, True, True, True, peepholes=True)
    agree("LSTM", 14, given, 3, tolerance=2e-5, hidden_size=6)


@pytest.mark.parametrize("node_type", GATES)
def test_layout_1_is_batch_first(node_type: str) -> None:
    kernel = _table.find(node_type, 22)
    assert kernel is not None
    given = inputs(node_type, 2, True, True, True, peepholes=False)
    plain = kernel(*given, direction="bidirectional")
    turned = [
        array.swapaxes(0, 1) if i in (0, 5, 6) and array is not None else array
        for i, array in enumerate(given)
    ]
    batch_first = kernel(*turned, direction="bidirectional", layout=1)
    np.testing.assert_array_equal(batch_first[0], plain[0].transpose(2, 0, 1, 3))
    for got, wanted in zip(batch_first[1:], plain[1:], strict=True):
        np.testing.assert_array_equal(got, wanted.swapaxes(0, 1))
