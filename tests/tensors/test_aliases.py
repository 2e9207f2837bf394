"""What shares memory says so: a write through either is noticed as a write to both."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om
from onemodel.nn import functional as F
from onemodel.tensors.tensor import Tensor


def base() -> Tensor:
    return om.tensor(np.arange(96, dtype=np.float32).reshape(2, 3, 4, 4))


# Calls that have nothing to do: whoever implements them is tempted to give the operand back.
IDLE: dict[str, Callable[[Tensor], Tensor]] = {
    "squeeze": lambda t: t.squeeze(),
    "squeeze of an axis that is longer": lambda t: t.squeeze(0),
    "reshape": lambda t: t.reshape(t.shape),
    "permute": lambda t: t.permute(0, 1, 2, 3),
    "transpose": lambda t: t.transpose(1, 1),
    "expand": lambda t: t.expand(t.shape),
    "flatten": lambda t: t.flatten(0, 0),
    "split": lambda t: t.split(len(t))[0],
    "chunk": lambda t: t.chunk(1)[0],
    "narrow": lambda t: t.narrow(0, 0, len(t)),
    "getitem": lambda t: t[...],
    "einsum": lambda t: om.einsum("abcd->abcd", t),
    "flip": lambda t: t.flip(()),
    "roll": lambda t: om.roll(t, 0, 0),
    "repeat": lambda t: t.repeat(1, 1, 1, 1),
    "pad": lambda t: F.pad(t, (0, 0)),
    "cat": lambda t: om.cat([t]),
    "tril": lambda t: t.tril(9),
    "pixel_shuffle": lambda t: F.pixel_shuffle(t, 1),
    "pixel_unshuffle": lambda t: F.pixel_unshuffle(t, 1),
    "channel_shuffle": lambda t: F.channel_shuffle(t, 1),
    "interpolate": lambda t: F.interpolate(t, scale_factor=1),
    "max_pool2d": lambda t: F.max_pool2d(t, 1),
    "avg_pool2d": lambda t: F.avg_pool2d(t, 1),
    "adaptive_avg_pool2d": lambda t: F.adaptive_avg_pool2d(t, t.shape[2:]),
    "sum over nothing of one": lambda t: t[:1].sum(0),
    "repeat_interleave": lambda t: t.repeat_interleave(1, 0),
    "round": lambda t: t.long().round(),
    "nan_to_num": lambda t: om.nan_to_num(t),
    "clone": lambda t: t.clone(),
    "tile": lambda t: t.tile(1),
}


def ones_() -> Tensor:
    return om.tensor(np.ones((1, 1, 1, 1), np.float32))


@pytest.mark.parametrize("make", [base, ones_])
@pytest.mark.parametrize("call", IDLE.values(), ids=IDLE)
def test_a_result_in_the_memory_of_the_operand_shares_its_storage(call, make):
    source = make()
    result = call(source)
    if np.shares_memory(result.array, source.array):
        assert result._own_storage() is source._own_storage()
        before = source.version
        result.fill_(7)
        assert source.version > before


def test_a_write_through_a_squeeze_with_nothing_to_squeeze_is_noticed_by_the_gradient():
    w = om.tensor(np.ones((4, 4), np.float32), requires_grad=True)
    loss = (w * w).sum()
    with om.no_grad():
        w.squeeze().add_(1)
    with pytest.raises(RuntimeError, match="gradient of mul needs its input 0"):
        loss.backward()


def test_a_write_through_a_squeeze_with_nothing_to_squeeze_is_noticed_by_the_trace():
    c = om.tensor(np.ones(4, np.float32))

    def model(x: Tensor) -> Tensor:
        y = x * c
        c.squeeze().add_(1)
        z = x * c
        c.squeeze().sub_(1)
        return y - z

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, om.ones(3, 4))
    assert caught.value.code == "OM203"


def test_repeats_are_a_copy_where_nothing_repeats_and_where_one_entry_does():
    for shape, repeats in (((2, 3), 1), ((1, 3), 4)):
        source = om.ones(*shape)
        result = source.repeat_interleave(repeats, 0)
        result.add_(1)
        assert source.array.max() == 1
        assert result.array.min() == 2


WRITES: dict[str, Callable[[Tensor], object]] = {
    "fill_": lambda t: t.fill_(1),
    "zero_": lambda t: t.zero_(),
    "copy_": lambda t: t.copy_(0),
    "set": lambda t: t.set(0, 0, 1.0),
    "add_": lambda t: t.add_(1),
    "relu_": lambda t: t.relu_(),
    "item": lambda t: t.__setitem__(0, 1.0),
    "normal_": lambda t: om.nn.init.normal_(t),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_to_elements_that_repeat_is_refused_in_words_and_counts_as_none(write):
    source = om.ones(1, 3)
    wide = source.expand(4, 3)
    with pytest.raises(RuntimeError, match=r"the elements of this tensor repeat .* x\.clone\(\)"):
        write(wide)
    assert source.version == 0
