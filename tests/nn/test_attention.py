"""Attention and transformers against loops in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from tests.nn.numeric import check_gradient

RNG = np.random.default_rng(9)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(layer: nn.MultiheadAttention, query, key, value, bias=None):
    """One head at a time, [N, L, E]; ``bias`` [N, heads, L, S] is added to the scores."""
    state = {name: tensor.array for name, tensor in layer.state_dict().items()}
    if "in_proj_weight" in state:
        w = np.split(state["in_proj_weight"], 3)
    else:
        w = [state[f"{name}_proj_weight"] for name in "qkv"]
    b = np.split(state["in_proj_bias"], 3)
    q, k, v = (x @ m.T + c for x, m, c in zip((query, key, value), w, b, strict=True))
    size, outputs, weights = layer.head_dim, [], []
    for head in range(layer.num_heads):
        part = slice(head * size, (head + 1) * size)
        scores = q[..., part] @ k[..., part].swapaxes(1, 2) / np.sqrt(size)
        if bias is not None:
            scores = scores + bias[:, head]
        weights.append(softmax(scores))
        outputs.append(weights[-1] @ v[..., part])
    joined = np.concatenate(outputs, -1)
    return joined @ state["out_proj.weight"].T + state["out_proj.bias"], np.stack(weights, 1)


def layer_of(*args, **kwargs) -> nn.MultiheadAttention:
    layer = nn.MultiheadAttention(*args, **kwargs).double()
    for parameter in layer.parameters():
        nn.init.normal_(parameter, std=0.5, generator=RNG)
    return layer


def data(*shape: int) -> om.Tensor:
    return om.tensor(RNG.normal(size=shape))


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_self_attention_equals_a_loop(batch_first, need_weights) -> None:
    layer = layer_of(6, 2, batch_first=batch_first)
    x = data(3, 5, 6)
    expected, weights = attend(layer, x.array, x.array, x.array)
    given = x if batch_first else x.transpose(0, 1)
    found, seen = layer(given, given, given, need_weights=need_weights)
    found = found if batch_first else found.transpose(0, 1)
    np.testing.assert_allclose(found.array, expected, atol=1e-12)
    if need_weights:
        np.testing.assert_allclose(seen.array, weights.mean(1), atol=1e-12)
    else:
        assert seen is None


def test_weights_per_head_come_if_asked_for() -> None:
    layer = layer_of(6, 2, batch_first=True)
    x = data(3, 5, 6)
    _, seen = layer(x, x, x, average_attn_weights=False)
    np.testing.assert_allclose(seen.array, attend(layer, *[x.array] * 3)[1], atol=1e-12)


def test_cross_attention_of_other_widths_equals_a_loop() -> None:
    layer = layer_of(6, 3, kdim=4, vdim=5, batch_first=True)
    q, k, v = data(2, 3, 6), data(2, 7, 4), data(2, 7, 5)
    expected, _ = attend(layer, q.array, k.array, v.array)
    np.testing.assert_allclose(layer(q, k, v)[0].array, expected, atol=1e-12)


def test_cross_attention_of_equal_widths_equals_a_loop() -> None:
    layer = layer_of(6, 3, batch_first=True)
    q, k = data(2, 3, 6), data(2, 7, 6)
    expected, _ = attend(layer, q.array, k.array, k.array)
    np.testing.assert_allclose(layer(q, k, k, need_weights=False)[0].array, expected, atol=1e-12)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("kind", ["bool", "float", "mixed", "per head"])
def test_masks_forbid_or_add(kind, need_weights) -> None:
    layer = layer_of(6, 2, batch_first=True)
    x = data(2, 4, 6)
    forbidden = np.triu(np.ones((4, 4), bool), 1)
    padding = np.array([[False, False, False, True], [False, False, True, True]])
    bias = np.where(forbidden | padding[:, None, None], -np.inf, 0.0)
    if kind == "bool":
        masks = om.tensor(forbidden), om.tensor(padding)
    elif kind == "float":
        masks = (om.tensor(np.where(forbidden, -np.inf, 0.0)),
                 om.tensor(np.where(padding, -np.inf, 0.0)))  # fmt: skip
    elif kind == "mixed":
        extra = RNG.normal(size=(4, 4))
        bias = bias + extra
        masks = om.tensor(np.where(forbidden, -np.inf, extra)), om.tensor(padding)
    else:
        extra = RNG.normal(size=(4, 4, 4))
        bias = extra.reshape(2, 2, 4, 4) + np.where(padding[:, None, None], -np.inf, 0.0)
        masks = om.tensor(extra), om.tensor(padding)
    bias = np.broadcast_to(bias, (2, 2, 4, 4))
    expected, _ = attend(layer, *[x.array] * 3, bias)
    found, _ = layer(
        x, x, x, attn_mask=masks[0], key_padding_mask=masks[1], need_weights=need_weights
    )
    np.testing.assert_allclose(found.array, expected, atol=1e-12)


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("padded", [True, False])
def test_causal_attention_does_not_look_ahead(padded, need_weights) -> None:
    layer = layer_of(6, 2, batch_first=True)
    x = data(2, 4, 6)
    padding = np.array([[False] * 4, [False, False, False, True]])
    forbidden = np.triu(np.ones((4, 4), bool), 1) | (padding[:, None] if padded else False)
    bias = np.broadcast_to(np.where(forbidden, -np.inf, 0.0)[:, None] if padded
                           else np.where(forbidden, -np.inf, 0.0), (2, 2, 4, 4))  # fmt: skip
    found, _ = layer(x, x, x, is_causal=True, need_weights=need_weights,
                     key_padding_mask=om.tensor(padding) if padded else None)  # fmt: skip
    np.testing.assert_allclose(found.array, attend(layer, *[x.array] * 3, bias)[0], atol=1e-12)


def test_one_sequence_needs_no_batch() -> None:
    layer = layer_of(6, 2)
    x = data(4, 6)
    single, weights = layer(x, x, x)
    expected, seen = attend(layer, *[x.array[None]] * 3)
    np.testing.assert_allclose(single.array, expected[0], atol=1e-12)
    np.testing.assert_allclose(weights.array, seen[0].mean(0), atol=1e-12)


def test_extra_keys_are_seen_by_every_query() -> None:
    layer = layer_of(6, 2, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    x = data(2, 4, 6)
    mask = om.tensor(np.ones((4, 4), bool))  # nothing but what is added
    found, weights = layer(x, x, x, attn_mask=mask)
    assert weights.shape == (2, 4, 6)
    assert not weights.array[..., :4].any()
    np.testing.assert_allclose(weights.array.sum(-1), 1)
    assert np.isfinite(found.array).all()


@pytest.mark.parametrize("need_weights", [True, False])
def test_gradients_of_attention_are_those_of_differences(need_weights) -> None:
    layer = layer_of(6, 2, batch_first=True, add_bias_kv=True)
    check_gradient(
        layer,
        [RNG.normal(size=(2, 3, 6)), RNG.normal(size=(2, 4, 6))],
        call=lambda q, k: layer(q, k, k, need_weights=need_weights),
    )


def norm(x: np.ndarray, layer: nn.LayerNorm) -> np.ndarray:
    centred = x - x.mean(-1, keepdims=True)
    scale = np.sqrt(x.var(-1, keepdims=True) + layer.eps)
    return centred / scale * layer.weight.array + layer.bias.array


def feed(layer, x: np.ndarray) -> np.ndarray:
    hidden = np.maximum(x @ layer.linear1.weight.array.T + layer.linear1.bias.array, 0)
    return hidden @ layer.linear2.weight.array.T + layer.linear2.bias.array


def disturb(module: nn.Module) -> nn.Module:
    for parameter in module.double().eval().parameters():
        nn.init.normal_(parameter, std=0.5, generator=RNG)
    return module


@pytest.mark.parametrize("norm_first", [True, False])
def test_an_encoder_layer_equals_its_formula(norm_first) -> None:
    layer = disturb(nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, norm_first=norm_first))
    x = data(2, 4, 6).array
    if norm_first:
        y = norm(x, layer.norm1)
        y = x + attend(layer.self_attn, y, y, y)[0]
        expected = y + feed(layer, norm(y, layer.norm2))
    else:
        y = norm(x + attend(layer.self_attn, x, x, x)[0], layer.norm1)
        expected = norm(y + feed(layer, y), layer.norm2)
    np.testing.assert_allclose(layer(om.tensor(x)).array, expected, atol=1e-10)


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_decoder_layer_equals_its_formula(norm_first) -> None:
    layer = disturb(nn.TransformerDecoderLayer(6, 2, 8, batch_first=True, norm_first=norm_first))
    x, m = data(2, 4, 6).array, data(2, 3, 6).array
    if norm_first:
        y = norm(x, layer.norm1)
        y = x + attend(layer.self_attn, y, y, y)[0]
        y = y + attend(layer.multihead_attn, norm(y, layer.norm2), m, m)[0]
        expected = y + feed(layer, norm(y, layer.norm3))
    else:
        y = norm(x + attend(layer.self_attn, x, x, x)[0], layer.norm1)
        y = norm(y + attend(layer.multihead_attn, y, m, m)[0], layer.norm2)
        expected = norm(y + feed(layer, y), layer.norm3)
    np.testing.assert_allclose(layer(om.tensor(x), om.tensor(m)).array, expected, atol=1e-10)


def test_stacks_run_copies_of_a_layer_one_after_the_other() -> None:
    layer = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
    stack = disturb(nn.TransformerEncoder(layer, 2, nn.LayerNorm(6)))
    assert stack.layers[0].linear1.weight is not stack.layers[1].linear1.weight
    x = data(2, 4, 6)
    expected = stack.norm(stack.layers[1](stack.layers[0](x)))
    assert np.array_equal(stack(x).array, expected.array)


def test_a_whole_transformer_is_causal_with_the_square_mask() -> None:
    net = disturb(nn.Transformer(6, 2, 1, 1, 8, batch_first=True))
    source, target = data(2, 5, 6), data(2, 4, 6)
    mask = nn.Transformer.generate_square_subsequent_mask(4, dtype=om.float64)
    assert mask.tolist()[1] == [0, 0, -np.inf, -np.inf]
    before = net(source, target, tgt_mask=mask).array
    changed = target.array.copy()
    changed[:, 3] += 1
    after = net(source, om.tensor(changed), tgt_mask=mask).array
    np.testing.assert_allclose(before[:, :3], after[:, :3], atol=1e-12)
    assert not np.allclose(before[:, 3], after[:, 3])
    hinted = net(source, target, tgt_is_causal=True).array
    np.testing.assert_allclose(hinted, before, atol=1e-12)


def test_gradients_of_transformers_are_those_of_differences() -> None:
    inputs = [RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 2, 4))]
    net = nn.Transformer(4, 2, 1, 1, 8, dropout=0.0, activation="gelu", batch_first=True)
    check_gradient(net, inputs, tolerance=1e-5)
