"""Pooling: ties, infinities, and symbolic sizes of every remainder."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnxruntime
import pytest

import onemodel as om
from onemodel.tensors.tensor import Tensor


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def in_onnxruntime(traced: om.TracedModel, x: np.ndarray, opset: int) -> np.ndarray:
    proto = traced.to_onnx(opset)
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def test_the_gradient_goes_to_the_first_of_equal_maxima() -> None:
    x = Tensor(np.ones((1, 1, 2, 4), np.float32)).requires_grad_()
    om.max_pool2d(x, 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[[[1, 0, 1, 0], [0, 0, 0, 0]]]]


def test_overlapping_windows_add_their_gradients_at_a_shared_maximum() -> None:
    x = Tensor(np.array([[[0.0, 5.0, 1.0, 2.0]]], np.float32)).requires_grad_()
    om.max_pool1d(x, 2, 1).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [[[0.0, 2.0, 0.0, 1.0]]]


def test_nan_is_the_maximum_and_takes_the_gradient() -> None:
    x = Tensor(np.array([[[1.0, np.nan, 3.0, 2.0]]], np.float32)).requires_grad_()
    result = om.max_pool1d(x, 2)
    assert np.isnan(result.detach().numpy()).tolist() == [[[True, False]]]
    result.backward(Tensor(np.ones((1, 1, 2), np.float32)))
    assert x.grad is not None
    assert x.grad.tolist() == [[[0.0, 1.0, 1.0, 0.0]]]


def test_minus_infinity_beside_padding_keeps_its_gradient() -> None:
    x = Tensor(np.full((1, 1, 2), -np.inf, np.float32)).requires_grad_()
    om.max_pool1d(x, 3, 1, padding=1).backward(Tensor(np.ones((1, 1, 2), np.float32)))
    assert x.grad is not None
    assert x.grad.tolist() == [[[2.0, 0.0]]]


def test_indices_find_the_maxima_in_their_planes() -> None:
    x = draw(2, 3, 7, 5)
    values, indices = om.max_pool2d(x, 3, 2, return_indices=True)
    planes = x.numpy().reshape(2, 3, -1)
    found = np.take_along_axis(planes, indices.numpy().reshape(2, 3, -1), axis=2)
    np.testing.assert_array_equal(found.reshape(values.shape), values.numpy())


def test_padding_above_half_of_the_kernel_is_refused() -> None:
    with pytest.raises(ValueError, match="more than half of the kernel"):
        om.max_pool2d(draw(1, 1, 6, 6), 2, padding=2)


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 2, 0), (3, 2, 1), (2, 3, 1)])
@pytest.mark.parametrize("opset", [10, 13, 19, 22, 28])
@pytest.mark.parametrize("pool", [om.max_pool1d, om.avg_pool1d])
def test_ceil_mode_over_a_symbolic_axis_counts_windows_as_eager_does(
    pool: Callable[..., Tensor], opset: int, kernel: int, stride: int, padding: int
) -> None:
    def model(x: Tensor) -> Tensor:
        return pool(x, kernel, stride, padding, ceil_mode=True)

    traced = om.trace(model, draw(2, 3, 8), axes={"x": {2: "t"}}, opset=opset)
    for size in range(3, 12):
        x = draw(2, 3, size)
        found = in_onnxruntime(traced, x.numpy(), opset)
        np.testing.assert_allclose(found, model(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("pool", [om.adaptive_avg_pool1d, om.adaptive_max_pool1d])
def test_adaptive_pooling_of_a_symbolic_axis_holds_at_every_remainder(
    pool: Callable[..., Tensor],
) -> None:
    traced = om.trace(lambda x: pool(x, 4), draw(2, 3, 9), axes={"x": {2: "t"}}, opset=18)
    for size in range(1, 14):
        x = draw(2, 3, size)
        found = in_onnxruntime(traced, x.numpy(), 18)
        np.testing.assert_allclose(found, pool(x, 4).numpy(), rtol=1e-5, atol=1e-6)


def test_adaptive_pooling_to_one_output_is_a_global_pooling() -> None:
    traced = om.trace(
        lambda x: om.adaptive_avg_pool2d(x, 1), draw(2, 3, 5, 4), axes={"x": {2: "h", 3: "w"}}
    )
    assert [node.op_type for node in traced.graph.nodes] == ["GlobalAveragePool"]
