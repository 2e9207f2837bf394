"""The branch-free choice gives exactly what ``np.where`` gives."""

from __future__ import annotations

import numpy as np
import pytest

from onemodel.kernels._select import select

SHAPES = [
    ((70, 80), (70, 80), (70, 80)),
    ((4, 1, 70, 80), (2, 70, 80), (1,)),
    ((70, 80), (1, 80), ()),
    ((70, 80), (3, 70, 80), (80,)),
    ((2, 1, 50, 50), (2, 8, 50, 50), ()),
    ((3,), (3,), ()),
]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, np.int8, np.uint16, np.int64, bool, object]
)
def test_bits_are_those_of_where(dtype: type, shapes: tuple[tuple[int, ...], ...]) -> None:
    random = np.random.RandomState(0)
    condition = np.asarray(random.rand(*shapes[0])) > 0.5
    x, y = (np.asarray(np.asarray(random.randn(*shape)) * 9).astype(dtype) for shape in shapes[1:])
    got, expected = select(condition, x, y), np.where(condition, x, y)
    assert got.shape == expected.shape
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_nan_and_the_sign_of_zero_survive() -> None:
    condition = np.arange(5000) % 2 == 0
    x, y = np.full(5000, np.nan, np.float32), np.full(5000, -0.0, np.float32)
    got = select(condition, x, y)
    assert np.isnan(got[::2]).all()
    assert np.signbit(got[1::2]).all()


def test_strided_arrays_are_read_in_place() -> None:
    random = np.random.RandomState(1)
    condition, x, y = random.rand(90, 80) > 0.5, random.randn(90, 80), random.randn(90, 80)
    np.testing.assert_array_equal(select(condition.T, x.T, y.T), select(condition, x, y).T)
