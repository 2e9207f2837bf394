"""Attention and dropout: masks, randomness, and what a trace refuses."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def test_a_row_that_sees_no_key_gives_zeros_and_no_gradient() -> None:
    q, k, v = (draw(1, 2, 3, n).requires_grad_() for n in (4, 4, 5))
    mask = Tensor(np.array([[False] * 3, [True] * 3, [True, False, False]]))
    result = om.scaled_dot_product_attention(q, k, v, mask)
    assert not result.detach().numpy()[:, :, 0].any()
    result.sum().backward()
    assert q.grad is not None
    assert np.isfinite(q.grad.numpy()).all()
    assert not q.grad.numpy()[:, :, 0].any()


def test_a_causal_order_equals_its_mask() -> None:
    q, k, v = draw(2, 4, 3), draw(2, 6, 3), draw(2, 6, 3)
    mask = Tensor(np.tri(4, 6, dtype=bool))
    one = om.scaled_dot_product_attention(q, k, v, is_causal=True)
    other = om.scaled_dot_product_attention(q, k, v, mask)
    np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_mask_together_with_causal_order_is_refused() -> None:
    q = draw(2, 4, 3)
    mask = Tensor(np.ones((4, 4), bool))
    with pytest.raises(ValueError, match="not both"):
        om.scaled_dot_product_attention(q, q, q, mask, is_causal=True)


def test_heads_that_do_not_group_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple"):
        om.scaled_dot_product_attention(
            draw(1, 3, 4, 2), draw(1, 2, 4, 2), draw(1, 2, 4, 2), enable_gqa=True
        )


@pytest.mark.parametrize(("opset", "nodes"), [(23, ["Attention"]), (22, None)])
def test_attention_is_one_node_from_23_on(opset: int, nodes: list[str] | None) -> None:
    x = draw(2, 2, 4, 3)
    traced = om.trace(lambda x: om.scaled_dot_product_attention(x, x, x), x, opset=opset)
    written = [node.op_type for node in traced.graph.nodes]
    assert written == nodes if nodes else "Attention" not in written and "Softmax" in written


def test_attention_dropout_is_refused_in_a_trace() -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: om.scaled_dot_product_attention(x, x, x, dropout_p=0.1), draw(2, 4, 3))
    assert caught.value.code == "OM601"


def test_dropout_in_evaluation_is_the_input_itself() -> None:
    x = draw(3, 4)
    assert om.dropout(x, 0.5, training=False) is x
    assert om.dropout(x, 0.0) is x


def test_dropout_scales_what_it_keeps_and_repeats_with_its_generator() -> None:
    x = Tensor(np.ones(20000, np.float32)).requires_grad_()
    result = om.dropout(x, 0.2, generator=om.Generator(1))
    values = result.detach().numpy()
    assert set(np.unique(values)) == {np.float32(0), np.float32(1.25)}
    assert (values == 0).mean() == pytest.approx(0.2, abs=0.02)
    again = om.dropout(x, 0.2, generator=om.Generator(1))
    np.testing.assert_array_equal(values, again.detach().numpy())
    result.sum().backward()
    assert x.grad is not None
    np.testing.assert_array_equal(x.grad.numpy(), values)


def test_dropout_in_training_is_refused_in_a_trace_with_a_way_out() -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: om.dropout(x, 0.5), draw(2, 3))
    assert caught.value.code == "OM601"
    assert any("eval" in rewrite.code for rewrite in caught.value.suggestions)


def test_an_index_outside_the_table_is_named() -> None:
    with pytest.raises(IndexError, match="index 7 is no row of a table of 5"):
        om.embedding(Tensor(np.array([1, 7])), draw(5, 2))


def test_equal_indices_add_their_gradients_and_padding_gets_none() -> None:
    weight = draw(4, 2).requires_grad_()
    om.embedding(Tensor(np.array([1, 3, 1, 0])), weight, padding_idx=3).sum().backward()
    assert weight.grad is not None
    assert weight.grad.tolist() == [[1, 1], [2, 2], [0, 0], [0, 0]]


def test_max_norm_shrinks_the_rows_in_use_only() -> None:
    weight = Tensor(np.array([[3.0, 4.0], [3.0, 4.0]], np.float32))
    om.embedding(Tensor(np.array([1])), weight, max_norm=1.0)
    np.testing.assert_allclose(weight.numpy(), [[3, 4], [0.6, 0.8]], rtol=1e-5)
