"""What PyTorch says where there is nothing to compute, or no single answer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import onemodel as om

NOTHING: dict[str, tuple[Callable[[], om.Tensor], tuple[int, ...]]] = {
    "conv_transpose2d": (
        lambda: om.conv_transpose2d(om.zeros(0, 3, 4, 5), om.zeros(3, 2, 3, 3)),
        (0, 2, 6, 7),
    ),
    "adaptive_max_pool2d": (
        lambda: om.adaptive_max_pool2d(om.zeros(0, 2, 7, 5), (3, 2)),
        (0, 2, 3, 2),
    ),
    "grid_sample": (
        lambda: om.grid_sample(om.zeros(0, 2, 4, 4), om.zeros(0, 3, 1, 2), align_corners=False),
        (0, 2, 3, 1),
    ),
    "unfold": (lambda: om.unfold(om.zeros(0, 2, 5, 6), (3, 3), padding=1), (0, 18, 30)),
    "unflatten": (lambda: om.zeros(0, 6, 0).unflatten(1, (2, -1)), (0, 2, 3, 0)),
}


@pytest.mark.parametrize("name", NOTHING)
def test_a_batch_without_elements_has_the_shape_that_it_would_have(name: str) -> None:
    compute, shape = NOTHING[name]
    assert tuple(compute().shape) == shape


def test_the_angle_of_the_origin_has_gradient_zero() -> None:
    y, x = om.tensor([0.0, 3.0], requires_grad=True), om.tensor([0.0, 4.0], requires_grad=True)
    om.atan2(y, x).sum().backward()
    np.testing.assert_allclose(y.grad.numpy(), [0, 4 / 25], rtol=1e-6)
    np.testing.assert_allclose(x.grad.numpy(), [0, -3 / 25], rtol=1e-6)
