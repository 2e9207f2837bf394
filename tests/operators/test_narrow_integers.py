"""Numbers that a narrow integer dtype cannot hold, on their way to floats and to bool."""

from __future__ import annotations

import numpy as np
import pytest

import onemodel as om

DIVIDENDS = np.array([1, 5, 100])
NARROW = [np.uint8, np.int8, np.int16, np.int32]


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("number", [-1, 1000, 70_000, 2**40])
def test_a_quotient_with_a_number_beyond_the_dtype_is_that_of_the_numbers(dtype, number):
    x = om.tensor(DIVIDENDS, dtype=dtype)
    np.testing.assert_allclose((x / number).array, (DIVIDENDS / number).astype(np.float32))
    np.testing.assert_allclose((number / x).array, (number / DIVIDENDS).astype(np.float32))


@pytest.mark.parametrize(
    ("name", "reference"),
    [("div", np.divide), ("atan2", np.arctan2), ("hypot", np.hypot)],
)
def test_a_tensor_without_axes_is_not_narrowed_before_it_becomes_a_float(name, reference):
    x, y = om.tensor(DIVIDENDS, dtype=np.uint8), om.tensor(-300)
    expected = reference(DIVIDENDS, -300).astype(np.float32)
    np.testing.assert_allclose(getattr(om, name)(x, y).array, expected, rtol=1e-6)
    traced = om.trace(lambda x: getattr(om, name)(x, y), x)
    (result,) = om.Session(traced).run({"x": x.array}).values()
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
@pytest.mark.parametrize("number", [256, -256, 1 << 40, 0.5, 0])
def test_truth_is_that_of_the_number_itself(name, number):
    x = om.tensor(np.array([0, 1]), dtype=np.uint8)
    expected = getattr(np, name)([0, 1], number)
    np.testing.assert_array_equal(getattr(om, name)(x, om.tensor(number)).array, expected)
    np.testing.assert_array_equal(getattr(om, name)(x, number).array, expected)


REDUCTIONS = ("sum", "mean", "prod", "amax", "amin", "any", "all", "logsumexp", "norm", "var")


@pytest.mark.parametrize("dim", [0, -1, (0,)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_tensor_without_axes_takes_0_and_minus_1_as_an_axis(name, dim):
    x = om.tensor(2.5)

    def model(x: om.Tensor) -> om.Tensor:
        return getattr(om, name)(x, dim=dim)

    result = model(x)
    assert result.shape == ()
    np.testing.assert_array_equal(result.array, getattr(om, name)(x[None], dim=0).array)
    if name != "var":  # of one number it is NaN
        (computed,) = om.Session(om.trace(model, x)).run({"x": x.array}).values()
        np.testing.assert_allclose(computed, result.array)
    with pytest.raises(IndexError, match="dim 1 is out of range"):
        getattr(om, name)(x, dim=1)
