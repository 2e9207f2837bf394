"""Blocked layouts: exact there and back, taken by convolutions, refused by everything else."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel import nn
from onemodel.tensors.layout import BlockedTensor, LayoutError


def weight(*shape: int) -> om.Tensor:
    return om.tensor(np.random.default_rng(4).standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("shape", [(4, 8, 5), (2, 3, 4, 5), (3, 16, 2, 1, 3), (0, 5, 2, 2)])
@pytest.mark.parametrize("block", [1, 4, 8])
def test_blocked_and_plain_again_is_the_same_to_the_bit(shape: tuple[int, ...], block: int) -> None:
    plain = weight(*shape)
    blocked = plain.to_blocked(block)
    assert isinstance(blocked, BlockedTensor)
    assert blocked.shape == shape and blocked.dtype == plain.dtype and blocked.ndim == len(shape)
    groups = -(-shape[1] // block)
    assert blocked.blocks.shape == (shape[0], groups, *shape[2:], block)
    assert blocked.blocks.flags.c_contiguous
    back = blocked.to_plain()
    assert back.layout == "strided"
    assert back.numpy().tobytes() == plain.numpy().tobytes()


def test_a_channel_lies_where_the_layout_says() -> None:
    plain = weight(2, 10, 3, 4)
    blocks = plain.to_blocked(8).blocks
    assert blocks[1, 1, 2, 3, 1] == plain.numpy()[1, 9, 2, 3]
    assert not blocks[:, 1, ..., 2:].any()


def test_the_layout_is_named_after_axes_and_block() -> None:
    layouts = [weight(*(1,) * rank).to_blocked(16).layout for rank in (3, 4, 5)]
    assert layouts == ["ncw16c", "nchw16c", "ncdhw16c"]
    assert weight(1, 1, 1, 1).layout == "strided"
    assert "nchw8c" in repr(weight(1, 1, 1, 1).to_blocked())


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_a_convolution_takes_a_blocked_weight_and_gives_the_same_bits(rank: int) -> None:
    convolution = (om.conv1d, om.conv2d, om.conv3d)[rank - 1]
    x, kernel, bias = weight(2, 6, *(7,) * rank), weight(4, 3, *(3,) * rank), weight(4)
    options: dict[str, Any] = {"stride": 2, "padding": 1, "groups": 2}
    plain = convolution(x, kernel, bias, **options)
    blocked = convolution(x, kernel.to_blocked(8), bias, **options)
    assert blocked.numpy().tobytes() == plain.numpy().tobytes()


def test_a_blocked_weight_lets_gradients_through_to_the_input() -> None:
    x = weight(1, 3, 5, 5).requires_grad_()
    kernel = weight(2, 3, 3, 3)
    grads = []
    for one in (kernel, kernel.to_blocked(4)):
        x.grad = None
        om.conv2d(x, one).sum().backward()
        grads.append(x.grad.numpy())
    np.testing.assert_array_equal(grads[0], grads[1])


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "add": lambda w: w + 1,
    "add a tensor": lambda w: om.ones(2, 3, 4, 5) + w,
    "relu": om.relu,
    "matmul": lambda w: w @ w,
    "cat": lambda w: om.cat([w, w]),
    "index": lambda w: w[0],
    "reshape": lambda w: w.reshape(-1),
    "the input of a convolution": lambda w: om.conv2d(w, om.ones(2, 3, 1, 1)),
    "a transposed convolution": lambda w: om.conv_transpose2d(om.ones(1, 2, 4, 5), w),
    "write": lambda w: w.fill_(0),
    "numpy": lambda w: w.numpy(),
    "numpy.asarray": np.asarray,
    "copy": copy.copy,
    "len": len,
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_everything_else_refuses_and_names_the_way_back(operation: Callable[[Any], Any]) -> None:
    with pytest.raises(LayoutError, match=r"nchw8c.*to_plain\(\)"):
        operation(weight(2, 3, 4, 5).to_blocked(8))


def test_wrong_shapes_blocks_and_recorded_gradients_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\[N, C, d1, ...\].*not \[3, 4\]"):
        om.to_blocked(weight(3, 4), 8)
    with pytest.raises(ValueError, match="positive integer, not 0"):
        om.to_blocked(weight(1, 2, 3, 4), 0)
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        nn.Conv2d(3, 4, 3).weight.to_blocked(8)


def blocked_layer() -> nn.Module:
    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("kernel", weight(2, 3, 1, 1).to_blocked(8))

        def forward(self, x: om.Tensor) -> om.Tensor:
            return om.conv2d(x, self.kernel)

    return Layer()


def test_a_trace_refuses_a_blocked_constant_at_the_line() -> None:
    layer, x = blocked_layer(), weight(1, 3, 4, 4)
    assert layer(x).shape == (1, 2, 4, 4)
    with pytest.raises(om.TraceException) as caught:
        om.trace(layer, x)
    error = caught.value
    assert error.code == "OM606" and "nchw8c" in error.message
    assert error.call_site is not None
    assert error.call_site.source.strip() == "return om.conv2d(x, self.kernel)"
    assert "to_plain()" in error.suggestions[0].code


def test_any_operator_of_a_trace_refuses_it_with_the_same_code() -> None:
    w = weight(1, 3, 4, 4).to_blocked(8)
    for model in (lambda x: x + w, lambda x: om.cat([x, w])):
        with pytest.raises(om.TraceException) as caught:
            om.trace(model, weight(1, 3, 4, 4))
        assert caught.value.code == "OM606"


def test_a_trace_that_collects_goes_on_with_the_plain_values() -> None:
    w, x = weight(1, 3, 4, 4).to_blocked(8), weight(1, 3, 4, 4)
    with om.Tracer.begin() as tracer, tracer.collect() as refusals:
        shape = tuple((tracer.input("x", x) + w).shape)
    assert [error.code for error in refusals] == ["OM606"]
    assert shape == (1, 3, 4, 4)


def test_a_traced_tensor_is_not_blocked() -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(lambda x: x.to_blocked(8).to_plain(), weight(1, 3, 4, 4))
    assert caught.value.code == "OM107"
