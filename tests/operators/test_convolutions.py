"""Convolutions: what their cases cannot say."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om
from onemodel.operators import _conv
from onemodel.tensors.tensor import Tensor


def draw(*shape: int) -> Tensor:
    seed = sum(shape) + len(shape)
    return Tensor(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def test_same_padding_of_an_even_kernel_puts_the_odd_element_at_the_end() -> None:
    x = Tensor(np.array([[[1.0, 2.0, 3.0]]], np.float32))
    weight = Tensor(np.array([[[1.0, 10.0]]], np.float32))
    assert om.conv1d(x, weight, padding="same").tolist() == [[[21.0, 32.0, 3.0]]]


def test_same_padding_with_a_stride_is_refused() -> None:
    with pytest.raises(ValueError, match="'same' needs stride 1"):
        om.conv2d(draw(1, 1, 4, 4), draw(1, 1, 3, 3), padding="same", stride=2)


def test_channels_that_do_not_fit_are_named_with_both_shapes() -> None:
    with pytest.raises(ValueError, match=r"conv2d: .*\[1, 3, 4, 4\].*\[2, 4, 3, 3\]"):
        om.conv2d(draw(1, 3, 4, 4), draw(2, 4, 3, 3))


def test_mixed_dtypes_are_refused_with_the_operands_named() -> None:
    with pytest.raises(TypeError, match="weight is float64, input is float32"):
        om.conv2d(draw(1, 1, 4, 4), draw(1, 1, 3, 3).double())


def test_a_kernel_larger_than_the_padded_input_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        om.conv1d(draw(1, 1, 2), draw(1, 1, 3))


def test_an_empty_batch_gives_an_empty_result_and_zero_gradients() -> None:
    x, weight = draw(0, 2, 4, 4).requires_grad_(), draw(3, 2, 3, 3).requires_grad_()
    result = om.conv2d(x, weight)
    assert result.shape == (0, 3, 2, 2)
    result.sum().backward()
    assert weight.grad is not None
    assert not weight.grad.numpy().any()


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("stride", [1, 2])
def test_gradients_do_not_depend_on_how_many_images_are_unfolded_at_once(
    groups: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gradients() -> list[np.ndarray]:
        x, weight = draw(5, 4, 7, 6).requires_grad_(), draw(8, 4 // groups, 3, 2).requires_grad_()
        result = om.conv2d(x, weight, stride=stride, padding=1, groups=groups)
        (result * result).sum().backward()
        assert x.grad is not None
        assert weight.grad is not None
        return [x.grad.numpy(), weight.grad.numpy()]

    whole = gradients()
    monkeypatch.setattr(_conv, "COLUMN_BYTES", 4000)
    for one, other in zip(gradients(), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_only_the_gradients_that_are_wanted_are_computed() -> None:
    x, weight = draw(2, 2, 5, 5), draw(3, 2, 3, 3).requires_grad_()
    om.conv2d(x, weight).sum().backward()
    assert x.grad is None
    assert weight.grad is not None


def test_half_precision_is_accumulated_in_single() -> None:
    x = Tensor(np.full((1, 4096, 1, 1), 0.1, np.float16))
    weight = Tensor(np.full((1, 4096, 1, 1), 0.1, np.float16))
    result = om.conv2d(x, weight)
    assert result.dtype == np.float16
    assert float(result.item()) == pytest.approx(40.95, abs=0.05)


def test_a_transposed_convolution_is_the_gradient_of_a_convolution() -> None:
    x, weight, y = draw(2, 3, 8, 7).requires_grad_(), draw(4, 3, 3, 3), draw(2, 4, 4, 4)
    om.conv2d(x, weight, stride=2, padding=1).backward(y)
    spread = om.conv_transpose2d(y, weight, stride=2, padding=1, output_padding=(1, 0))
    assert x.grad is not None
    np.testing.assert_allclose(spread.numpy(), x.grad.numpy(), rtol=1e-4, atol=1e-5)


def test_an_output_padding_not_below_the_stride_is_refused() -> None:
    with pytest.raises(ValueError, match="output_padding 2 must be smaller"):
        om.conv_transpose1d(draw(1, 1, 4), draw(1, 1, 3), stride=2, output_padding=2)


def test_same_padding_keeps_a_symbolic_size_exactly() -> None:
    weight = draw(3, 3, 4, 3)
    seen = []

    def model(x: Tensor) -> Tensor:
        y = om.conv2d(x, weight, padding="same")
        seen.append(repr(y))
        return x + y

    om.trace(model, draw(2, 3, 6, 5), axes={"x": {0: "n", 2: "h", 3: "w"}})
    assert "[n, 3, h, w]" in seen[0]
