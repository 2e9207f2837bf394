"""Initial weights: distributions of PyTorch, reproducible, never drawn in a trace."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om
from onemodel import nn

RNG = np.random.default_rng


def within(values: np.ndarray, bound: float) -> None:
    """Uniform in [-bound, bound]: no value outside, and the right spread."""
    assert np.abs(values).max() <= bound
    assert abs(values.std() - bound / math.sqrt(3)) < 0.05 * bound


@pytest.mark.parametrize(
    ("layer", "fan_in"),
    [
        (nn.Linear(64, 200, generator=RNG(0)), 64),
        (nn.Conv2d(8, 64, 3, groups=2, generator=RNG(0)), 4 * 9),
        (nn.ConvTranspose2d(16, 32, 3, generator=RNG(0)), 32 * 9),
    ],
)
def test_weights_are_uniform_by_fan_in(layer, fan_in: int) -> None:
    within(layer.weight.array, 1 / math.sqrt(fan_in))
    assert np.abs(layer.bias.array).max() <= 1 / math.sqrt(fan_in)


def test_recurrent_weights_are_uniform_by_hidden_size() -> None:
    for layer in (nn.LSTM(30, 25, generator=RNG(0)), nn.GRUCell(30, 25, generator=RNG(0))):
        for parameter in layer.parameters():
            assert np.abs(parameter.array).max() <= 1 / math.sqrt(25)


def test_attention_starts_by_xavier_with_zero_biases() -> None:
    layer = nn.MultiheadAttention(40, 4, generator=RNG(0))
    within(layer.in_proj_weight.array, math.sqrt(6 / (40 + 120)))
    assert not layer.in_proj_bias.array.any() and not layer.out_proj.bias.array.any()


def test_tables_start_standard_normal() -> None:
    values = nn.Embedding(400, 50, generator=RNG(0)).weight.array
    assert abs(values.mean()) < 0.03 and abs(values.std() - 1) < 0.03


@pytest.mark.parametrize("layer", [nn.BatchNorm2d(3), nn.LayerNorm(3), nn.GroupNorm(1, 3)])
def test_norms_start_as_ones_and_zeros(layer: nn.Module) -> None:
    assert layer.weight.tolist() == [1, 1, 1] and layer.bias.tolist() == [0, 0, 0]


def test_a_transformer_starts_by_xavier() -> None:
    net = nn.Transformer(16, 2, 1, 1, 32, generator=RNG(0))
    within(net.encoder.layers[0].linear1.weight.array, math.sqrt(6 / (16 + 32)))


@pytest.mark.parametrize(
    "build",
    [
        lambda g: nn.Linear(3, 2, generator=g),
        lambda g: nn.LSTM(3, 2, generator=g),
        lambda g: nn.TransformerEncoderLayer(4, 2, 8, generator=g),
    ],
)
def test_equal_generators_give_equal_weights(build: Callable[..., nn.Module]) -> None:
    first, second, other = build(RNG(5)), build(RNG(5)), build(RNG(6))
    pairs = zip(first.state_dict().values(), second.state_dict().values(), strict=True)
    assert all(np.array_equal(a.array, b.array) for a, b in pairs)
    differ = zip(first.state_dict().values(), other.state_dict().values(), strict=True)
    assert any(not np.array_equal(a.array, b.array) for a, b in differ)


def test_the_default_seed_gives_equal_weights() -> None:
    om.manual_seed(3)
    first = nn.Linear(3, 2).weight.array
    om.manual_seed(3)
    assert np.array_equal(first, nn.Linear(3, 2).weight.array)


def test_drawing_weights_in_a_trace_is_refused() -> None:
    def model(x: om.Tensor) -> om.Tensor:
        return nn.Linear(3, 3)(x)

    with pytest.raises(om.TraceException) as error:
        om.trace(model, om.ones((2, 3)))
    assert error.value.kind is om.TraceErrorKind.UNSUPPORTED_OPERATION


def test_dtype_is_the_default_or_the_one_asked_for() -> None:
    assert nn.Linear(1, 1).weight.dtype == om.float32
    assert nn.LSTM(1, 1, dtype=om.float64).weight_hh_l0.dtype == om.float64
    om.set_default_dtype(om.float64)
    try:
        assert nn.BatchNorm1d(2).running_mean.dtype == om.float64
    finally:
        om.set_default_dtype(om.float32)


def test_orthogonal_rows_or_columns() -> None:
    for shape in ((3, 5), (5, 3)):
        matrix = nn.init.orthogonal_(om.zeros(shape, dtype=om.float64), generator=RNG(0)).array
        small = matrix @ matrix.T if shape[0] < shape[1] else matrix.T @ matrix
        np.testing.assert_allclose(small, np.eye(3), atol=1e-12)


def test_truncation_keeps_values_inside() -> None:
    values = nn.init.trunc_normal_(om.zeros(5000), 0.5, 1.0, -0.5, 1.5, RNG(0)).array
    assert values.min() >= -0.5 and values.max() <= 1.5 and abs(values.mean() - 0.5) < 0.05


def test_simple_fillings() -> None:
    assert nn.init.eye_(om.zeros((2, 3))).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert nn.init.constant_(om.zeros(2), 3).tolist() == [3, 3]
    within(nn.init.kaiming_uniform_(om.zeros((200, 50)), generator=RNG(0)).array, math.sqrt(6 / 50))
    spread = nn.init.kaiming_normal_(om.zeros((200, 50)), mode="fan_out", nonlinearity="relu",
                                     generator=RNG(0)).array.std()  # fmt: skip
    assert abs(spread - math.sqrt(2 / 200)) < 0.005
    spread = nn.init.xavier_normal_(om.zeros((200, 50)), generator=RNG(0)).array.std()
    assert abs(spread - math.sqrt(2 / 250)) < 0.005
    assert abs(nn.init.calculate_gain("tanh") - 5 / 3) < 1e-15


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: nn.init.xavier_uniform_(om.zeros(3)), "has no fan"),
        (lambda: nn.init.calculate_gain("sinh"), "no gain is known"),
        (lambda: nn.init.kaiming_uniform_(om.zeros((2, 2)), mode="fan"), "mode must be"),
        (lambda: nn.init.eye_(om.zeros(3)), "two axes"),
        (lambda: nn.init.orthogonal_(om.zeros(3)), "two axes"),
    ],
)
def test_what_cannot_be_initialised_is_told(call, text) -> None:
    with pytest.raises(ValueError, match=text):
        call()
