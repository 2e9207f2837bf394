"""Recurrent layers and cells against loops over batch and time, in float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from tests.nn.numeric import check_gradient

RNG = np.random.default_rng(4)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def step(kind: str, x, state, w_ih, w_hh, b_ih, b_hh):
    """The next state of one sequence, from the textbook."""
    of_x, of_h = w_ih @ x + b_ih, w_hh @ state[0] + b_hh
    if kind == "RNN":
        return (np.tanh(of_x + of_h),)
    if kind == "LSTM":
        i, f, g, o = np.split(of_x + of_h, 4)
        c = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    (r, z, n), (r_h, z_h, n_h) = np.split(of_x, 3), np.split(of_h, 3)
    update = sigmoid(z + z_h)
    return ((1 - update) * np.tanh(n + sigmoid(r + r_h) * n_h) + update * state[0],)


def reference(layer, x: np.ndarray, start: Sequence[np.ndarray], lengths: Sequence[int]):
    """Output [B, T, ...] and final states of a whole layer, x [B, T, I]."""
    kind, state = type(layer).__name__, {k: t.array for k, t in layer.state_dict().items()}
    finals: list[list[np.ndarray]] = [[] for _ in start]
    number = 0
    for depth in range(layer.num_layers):
        columns = []
        for suffix in ("", "_reverse") if layer.bidirectional else ("",):
            names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            weights = [state.get(f"{name}_l{depth}{suffix}", 0.0) for name in names]
            y = np.zeros((*x.shape[:2], layer.hidden_size))
            ends: list[list[np.ndarray]] = [[] for _ in start]
            for b, length in enumerate(lengths):
                now = tuple(s[number, b] for s in start)
                for t in range(length)[:: -1 if suffix else 1]:
                    now = step(kind, x[b, t], now, *weights)
                    y[b, t] = now[0]
                for end, value in zip(ends, now, strict=True):
                    end.append(value)
            for final, end in zip(finals, ends, strict=True):
                final.append(np.stack(end))
            columns.append(y)
            number += 1
        x = np.concatenate(columns, -1)
    return x, [np.stack(final) for final in finals]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_two_layers_equal_a_loop(kind, batch_first, bidirectional, bias) -> None:
    layer = kind(3, 4, 2, bias=bias, batch_first=batch_first, bidirectional=bidirectional).double()
    x = RNG.normal(size=(2, 5, 3))
    start = [RNG.normal(size=(2 + 2 * bidirectional, 2, 4)) for _ in range(1 + (kind is nn.LSTM))]
    hx = tuple(om.tensor(s) for s in start)
    output, final = layer(
        om.tensor(x if batch_first else x.swapaxes(0, 1)), hx if kind is nn.LSTM else hx[0]
    )
    expected, states = reference(layer, x, start, [5, 5])
    found = output.array if batch_first else output.array.swapaxes(0, 1)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    finals = final if kind is nn.LSTM else (final,)
    for one, other in zip(finals, states, strict=True):
        np.testing.assert_allclose(one.array, other, atol=1e-12)


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_padded_sequences_end_where_their_length_says(kind, bidirectional) -> None:
    layer = kind(3, 4, 2, batch_first=True, bidirectional=bidirectional).double()
    x, lengths = RNG.normal(size=(3, 5, 3)), [5, 2, 3]
    output, final = layer(om.tensor(x), lengths=om.tensor(lengths))
    zeros = [np.zeros((2 + 2 * bidirectional, 3, 4))] * (1 + (kind is nn.LSTM))
    expected, states = reference(layer, x, zeros, lengths)
    np.testing.assert_allclose(output.array, expected, atol=1e-12)
    for one, other in zip(final if kind is nn.LSTM else (final,), states, strict=True):
        np.testing.assert_allclose(one.array, other, atol=1e-12)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_one_sequence_needs_no_batch(kind) -> None:
    layer = kind(3, 4).double()
    x = RNG.normal(size=(5, 3))
    single, _ = layer(om.tensor(x))
    batched, _ = layer(om.tensor(x[:, None]))
    np.testing.assert_allclose(single.array, batched.array[:, 0], atol=1e-14)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_gradients_of_layers_are_those_of_differences(kind) -> None:
    layer = kind(3, 4, 2, batch_first=True, bidirectional=True)
    check_gradient(layer, [RNG.normal(size=(2, 5, 3))])


@pytest.mark.parametrize(
    ("cell", "layer"),
    [(nn.LSTMCell, nn.LSTM), (nn.GRUCell, nn.GRU), (nn.RNNCell, nn.RNN)],
)
def test_a_cell_called_in_a_loop_equals_the_layer(cell, layer) -> None:
    one, whole = cell(3, 4).double(), layer(3, 4).double()
    whole.load_state_dict({f"{name}_l0": tensor for name, tensor in one.state_dict().items()})
    x, state = om.tensor(RNG.normal(size=(5, 2, 3))), None
    outputs = []
    for t in range(5):
        state = one(x[t], state)
        outputs.append(state[0] if cell is nn.LSTMCell else state)
    expected, _ = whole(x)
    np.testing.assert_allclose(om.stack(outputs, 0).array, expected.array, atol=1e-12)


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell])
def test_gradients_of_cells_are_those_of_differences(cell) -> None:
    check_gradient(cell(3, 4), [RNG.normal(size=(2, 3))])


def test_relu_is_the_other_nonlinearity() -> None:
    layer, cell = nn.RNN(3, 4, nonlinearity="relu"), nn.RNNCell(3, 4, nonlinearity="relu")
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in layer.state_dict().items()})
    x = om.tensor(RNG.normal(size=(1, 2, 3)).astype(np.float32))
    expected = cell(x[0])
    assert (expected.array >= 0).all()
    np.testing.assert_allclose(layer(x)[0].array[0], expected.array, rtol=1e-5, atol=1e-6)


def test_dropout_acts_between_layers_in_training_only() -> None:
    layer = nn.LSTM(3, 4, 2, dropout=0.5)
    x = om.tensor(RNG.normal(size=(5, 2, 3)).astype(np.float32))
    assert not np.array_equal(layer(x)[0].array, layer(x)[0].array)
    layer.eval()
    assert np.array_equal(layer(x)[0].array, layer(x)[0].array)


def test_all_weights_are_listed_per_direction() -> None:
    layer = nn.GRU(3, 4, 2, bidirectional=True, bias=False)
    assert [len(weights) for weights in layer.all_weights] == [2] * 4
    assert layer.all_weights[1][0] is layer.weight_ih_l0_reverse
