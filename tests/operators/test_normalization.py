"""Normalisations: running statistics, refusals, precision."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def statistics(channels: int) -> tuple[Tensor, Tensor]:
    return Tensor(np.zeros(channels, np.float32)), Tensor(np.ones(channels, np.float32))


def test_training_moves_the_running_statistics_by_the_momentum() -> None:
    x, (mean, var) = draw(4, 3, 5), statistics(3)
    om.batch_norm(x, mean, var, training=True, momentum=0.3)
    rows = x.numpy().transpose(1, 0, 2).reshape(3, -1)
    np.testing.assert_allclose(mean.numpy(), 0.3 * rows.mean(1), rtol=1e-5)
    np.testing.assert_allclose(var.numpy(), 0.7 + 0.3 * rows.var(1, ddof=1), rtol=1e-5)


def test_training_raises_the_version_of_the_running_statistics() -> None:
    mean, var = statistics(2)
    om.batch_norm(draw(3, 2), mean, var, training=True)
    assert (mean.version, var.version) == (1, 1)


def test_the_gradient_of_training_survives_a_second_forward() -> None:
    x, (mean, var) = draw(4, 2).requires_grad_(), statistics(2)
    first = om.batch_norm(x, mean, var, training=True)
    om.batch_norm(x, mean, var, training=True)
    (first * first).sum().backward()
    assert x.grad is not None


def test_training_on_one_value_per_channel_is_refused() -> None:
    with pytest.raises(ValueError, match="more than one value per channel"):
        om.batch_norm(draw(1, 3), None, None, training=True)


def test_evaluation_without_statistics_is_refused() -> None:
    with pytest.raises(ValueError, match="needs running_mean and running_var"):
        om.batch_norm(draw(2, 3), None, None)


def test_a_trace_refuses_batch_norm_in_training_and_leaves_the_statistics_alone() -> None:
    mean, var = statistics(3)

    def model(x: Tensor) -> Tensor:
        return om.batch_norm(x, mean, var, training=True)

    with pytest.raises(om.TraceException, match="BatchNorm") as caught:
        om.trace(model, draw(2, 3, 4))
    assert caught.value.code == "OM602"
    assert not mean.numpy().any()


def test_instance_norm_moves_running_statistics_too() -> None:
    x, (mean, var) = draw(2, 3, 6), statistics(3)
    om.instance_norm(x, mean, var, momentum=0.5)
    np.testing.assert_allclose(mean.numpy(), 0.5 * x.numpy().mean((0, 2)), rtol=1e-5)


def test_layer_norm_of_a_large_mean_keeps_its_digits() -> None:
    x = Tensor((np.arange(8) + 1e5).astype(np.float32)[None])
    result = om.layer_norm(x, 8)
    exact = (np.arange(8) - 3.5) / np.sqrt(np.var(np.arange(8)) + 1e-5)
    np.testing.assert_allclose(result.numpy()[0], exact, rtol=1e-4)


def test_a_normalized_shape_that_the_input_does_not_end_in_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\[3\] is not how the shape \[2, 4\]"):
        om.layer_norm(draw(2, 4), 3)


@pytest.mark.parametrize(("opset", "expected"), [(17, "LayerNormalization"), (16, "ReduceMean")])
def test_layer_norm_is_one_node_from_17_on(opset: int, expected: str) -> None:
    weight, bias = draw(4), draw(4)
    traced = om.trace(lambda x: om.layer_norm(x, 4, weight, bias), draw(2, 4), opset=opset)
    assert expected in [node.op_type for node in traced.graph.nodes]
    assert (len(traced.graph.nodes) == 1) == (opset >= 17)


def test_group_norm_refuses_groups_that_do_not_divide_the_channels() -> None:
    with pytest.raises(ValueError, match="5 channels do not divide into 2 groups"):
        om.group_norm(draw(2, 5, 3), 2)
