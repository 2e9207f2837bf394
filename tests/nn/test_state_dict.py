"""State dicts: PyTorch's names, and loading all or nothing with one complete error."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om
from onemodel import nn

BATCH_NORM = ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]
ATTENTION = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
ENCODER = [
    *(f"self_attn.{name}" for name in ATTENTION),
    "linear1.weight",
    "linear1.bias",
    "linear2.weight",
    "linear2.bias",
    "norm1.weight",
    "norm1.bias",
    "norm2.weight",
    "norm2.bias",
]
DECODER = [
    *(f"self_attn.{name}" for name in ATTENTION),
    *(f"multihead_attn.{name}" for name in ATTENTION),
    *ENCODER[4:],
    "norm3.weight",
    "norm3.bias",
]

# Written down from PyTorch 2: name -> shape, in the order of its state dict.
PYTORCH: list[tuple[Callable[[], nn.Module], dict[str, tuple[int, ...]]]] = [
    (lambda: nn.Linear(3, 5), {"weight": (5, 3), "bias": (5,)}),
    (lambda: nn.Bilinear(2, 3, 4), {"weight": (4, 2, 3), "bias": (4,)}),
    (lambda: nn.Conv1d(4, 6, 3, groups=2), {"weight": (6, 2, 3), "bias": (6,)}),
    (lambda: nn.Conv2d(4, 6, (3, 2), bias=False), {"weight": (6, 4, 3, 2)}),
    (lambda: nn.Conv3d(1, 2, 3), {"weight": (2, 1, 3, 3, 3), "bias": (2,)}),
    (lambda: nn.ConvTranspose1d(4, 6, 3), {"weight": (4, 6, 3), "bias": (6,)}),
    (lambda: nn.ConvTranspose2d(4, 6, 3, groups=2), {"weight": (4, 3, 3, 3), "bias": (6,)}),
    (
        lambda: nn.BatchNorm2d(3),
        {**dict.fromkeys(BATCH_NORM[:4], (3,)), "num_batches_tracked": ()},
    ),
    (lambda: nn.BatchNorm1d(3, affine=False, track_running_stats=False), {}),
    (lambda: nn.InstanceNorm2d(3), {}),
    (lambda: nn.InstanceNorm2d(3, affine=True), {"weight": (3,), "bias": (3,)}),
    (lambda: nn.LayerNorm((2, 3)), {"weight": (2, 3), "bias": (2, 3)}),
    (lambda: nn.LayerNorm(3, bias=False), {"weight": (3,)}),
    (lambda: nn.GroupNorm(2, 4), {"weight": (4,), "bias": (4,)}),
    (lambda: nn.RMSNorm(4), {"weight": (4,)}),
    (lambda: nn.Embedding(7, 3), {"weight": (7, 3)}),
    (lambda: nn.EmbeddingBag(7, 3), {"weight": (7, 3)}),
    (lambda: nn.PReLU(3), {"weight": (3,)}),
    (
        lambda: nn.LSTMCell(3, 2),
        {"weight_ih": (8, 3), "weight_hh": (8, 2), "bias_ih": (8,), "bias_hh": (8,)},
    ),
    (lambda: nn.GRUCell(3, 2, bias=False), {"weight_ih": (6, 3), "weight_hh": (6, 2)}),
    (
        lambda: nn.RNNCell(3, 2),
        {"weight_ih": (2, 3), "weight_hh": (2, 2), "bias_ih": (2,), "bias_hh": (2,)},
    ),
    (
        lambda: nn.LSTM(3, 2, num_layers=2, bidirectional=True),
        {
            f"{kind}_{part}_l{layer}{suffix}": (8, (3 if layer == 0 else 4) if part == "ih" else 2)
            if kind == "weight"
            else (8,)
            for layer in (0, 1)
            for suffix in ("", "_reverse")
            for kind in ("weight", "bias")
            for part in ("ih", "hh")
        },
    ),
    (lambda: nn.GRU(3, 2, bias=False), {"weight_ih_l0": (6, 3), "weight_hh_l0": (6, 2)}),
    (
        lambda: nn.RNN(3, 2),
        {"weight_ih_l0": (2, 3), "weight_hh_l0": (2, 2), "bias_ih_l0": (2,), "bias_hh_l0": (2,)},
    ),
    (
        lambda: nn.MultiheadAttention(4, 2),
        dict(zip(ATTENTION, [(12, 4), (12,), (4, 4), (4,)], strict=True)),
    ),
    (
        lambda: nn.MultiheadAttention(4, 2, kdim=3, vdim=5, add_bias_kv=True),
        {
            "q_proj_weight": (4, 4),
            "k_proj_weight": (4, 3),
            "v_proj_weight": (4, 5),
            "in_proj_bias": (12,),
            "bias_k": (1, 1, 4),
            "bias_v": (1, 1, 4),
            "out_proj.weight": (4, 4),
            "out_proj.bias": (4,),
        },
    ),
    (lambda: nn.CrossEntropyLoss(weight=om.ones(3)), {"weight": (3,)}),
    (lambda: nn.BCEWithLogitsLoss(pos_weight=om.ones(3)), {"pos_weight": (3,)}),
]


@pytest.mark.parametrize(("build", "expected"), PYTORCH)
def test_names_order_and_shapes_are_those_of_pytorch(build, expected) -> None:
    found = {name: tensor.shape for name, tensor in build().state_dict().items()}
    assert found == expected
    assert list(found) == list(expected)


def test_names_of_transformers_are_those_of_pytorch() -> None:
    encoder = nn.TransformerEncoderLayer(4, 2, 8)
    decoder = nn.TransformerDecoderLayer(4, 2, 8)
    assert list(encoder.state_dict()) == ENCODER
    assert list(decoder.state_dict()) == DECODER
    stack = nn.TransformerEncoder(encoder, 2, nn.LayerNorm(4))
    assert list(stack.state_dict()) == [
        *(f"layers.{i}.{name}" for i in range(2) for name in ENCODER),
        "norm.weight",
        "norm.bias",
    ]
    whole = nn.Transformer(4, 2, 1, 1, 8)
    assert list(whole.state_dict()) == [
        *(f"encoder.layers.0.{name}" for name in ENCODER),
        "encoder.norm.weight",
        "encoder.norm.bias",
        *(f"decoder.layers.0.{name}" for name in DECODER),
        "decoder.norm.weight",
        "decoder.norm.bias",
    ]


def test_a_state_dict_shares_memory_with_its_module() -> None:
    layer = nn.Linear(2, 2)
    state = layer.state_dict()
    with om.no_grad():
        layer.weight.fill_(3)
    assert (state["weight"].array == 3).all() and not state["weight"].requires_grad
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight


def test_loading_copies_values_and_raises_versions() -> None:
    source, target = nn.Linear(2, 3), nn.Linear(2, 3)
    weight, version = target.weight, target.weight.version
    result = target.load_state_dict(source.state_dict())
    assert result == ([], [])
    assert target.weight is weight and weight.version > version
    assert np.array_equal(weight.array, source.weight.array)
    with om.no_grad():
        source.weight.zero_()
    assert weight.array.any()


def test_arrays_load_too() -> None:
    layer = nn.Linear(1, 1)
    layer.load_state_dict({"weight": np.full((1, 1), 2, np.float32), "bias": np.zeros(1, "f4")})
    assert layer(om.tensor([[3.0]])).tolist() == [[6.0]]


def test_one_error_lists_everything_that_does_not_fit() -> None:
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    state = {**net.state_dict()}
    before = {name: tensor.to_array() for name, tensor in state.items()}
    del state["0.bias"], state["1.running_mean"]
    state["0.weight"] = om.ones((3, 4))
    state["2.weight"] = om.ones((1, 3), dtype=om.float64)
    state["2.bias"] = "seven"  # type: ignore[assignment]
    state["3.weight"] = om.ones(1)
    state["evil\nname"] = om.ones(1)
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(state)
    assert str(error.value).split("\n") == [
        "the state dict does not fit Sequential; nothing was loaded:",
        "  0.weight: shape [3, 4] given, [3, 2] expected",
        "  2.weight: dtype float64 given, float32 expected "
        "(convert the module first, as in module.to(dtype))",
        "  2.bias: expected a tensor or an array, not str",
        "  0.bias: missing",
        "  1.running_mean: missing",
        "  3.weight: unexpected",
        r"  'evil\nname': unexpected",
    ]
    for name, tensor in net.state_dict().items():
        assert np.array_equal(tensor.array, before[name])


def test_a_lenient_load_returns_what_it_skipped_but_checks_shapes() -> None:
    layer = nn.Linear(2, 2)
    result = layer.load_state_dict({"weight": om.zeros((2, 2)), "extra": om.ones(1)}, strict=False)
    assert result.missing_keys == ["bias"] and result.unexpected_keys == ["extra"]
    assert not layer.weight.array.any()
    with pytest.raises(RuntimeError, match="weight: shape"):
        layer.load_state_dict({"weight": om.zeros((2, 3))}, strict=False)


def test_something_else_than_a_mapping_is_told() -> None:
    with pytest.raises(TypeError, match="expected a mapping"):
        nn.Linear(1, 1).load_state_dict([1])  # type: ignore[arg-type]
