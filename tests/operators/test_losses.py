"""Losses: refusals in a trace, ignored classes, bad targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


LABELS = Tensor(np.array([0, 2, 1]))


@pytest.mark.parametrize(
    "loss",
    [
        lambda x: om.nll_loss(x, LABELS),
        lambda x: om.cross_entropy(x, LABELS),
        lambda x: om.ctc_loss(x, Tensor(np.array([1])), [3], [1]),
    ],
    ids=["nll_loss", "cross_entropy", "ctc_loss"],
)
def test_a_training_loss_is_refused_in_a_trace(loss: Callable[[Tensor], Tensor]) -> None:
    with pytest.raises(om.TraceException) as caught:
        om.trace(loss, draw(3, 4))
    assert caught.value.code == "OM607"


def test_the_mean_over_ignored_positions_only_is_nan_and_the_sum_zero() -> None:
    x, target = draw(2, 3), Tensor(np.array([-100, -100]))
    assert np.isnan(om.cross_entropy(x, target).item())
    assert om.cross_entropy(x, target, reduction="sum").item() == 0


def test_an_ignored_position_of_minus_infinity_counts_nothing() -> None:
    x = Tensor(np.array([[-np.inf, 0.0], [-1.0, -2.0]], np.float32))
    assert om.nll_loss(x, Tensor(np.array([0, 1])), ignore_index=0).item() == 2


@pytest.mark.parametrize("target", [3, -1])
def test_a_class_that_does_not_exist_is_named(target: int) -> None:
    with pytest.raises(IndexError, match=f"target {target} is no class of 3"):
        om.cross_entropy(draw(1, 3), Tensor(np.array([target])))


def test_cross_entropy_is_nll_of_log_softmax() -> None:
    x, weight = draw(3, 4, 2), Tensor(np.array([1, 2, 3, 4], np.float32))
    target = Tensor(np.array([[0, 1], [3, 2], [2, 2]]))
    one = om.cross_entropy(x, target, weight)
    other = om.nll_loss(om.log_softmax(x, 1), target, weight)
    assert one.item() == pytest.approx(other.item(), rel=1e-5)


def test_large_scores_neither_overflow_nor_lose_their_gradient() -> None:
    x = Tensor(np.array([[1000.0, 0.0]], np.float32)).requires_grad_()
    loss = om.cross_entropy(x, Tensor(np.array([1])))
    assert loss.item() == 1000
    loss.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[1, -1]]


def test_a_loss_does_not_broadcast_silently() -> None:
    with pytest.raises(ValueError, match=r"target has shape \[3, 1\], the input \[3\]"):
        om.mse_loss(draw(3), draw(3, 1))


def test_an_unknown_reduction_is_refused() -> None:
    with pytest.raises(ValueError, match="write 'mean', 'sum' or 'none'"):
        om.l1_loss(draw(3), draw(3), reduction="average")


def test_a_loss_of_elements_can_be_traced() -> None:
    traced = om.trace(om.mse_loss, draw(3, 2), draw(3, 2))
    assert traced.graph.nodes


def test_a_target_that_cannot_be_spelt_is_infinite_or_zero() -> None:
    scores = om.log_softmax(draw(2, 1, 3), -1).detach().requires_grad_()
    target = Tensor(np.array([[1, 1]]))
    assert om.ctc_loss(scores, target, [2], [2]).item() == np.inf
    loss = om.ctc_loss(scores, target, [2], [2], zero_infinity=True)
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert not scores.grad.numpy().any()
