"""Special functions against SciPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import special as scipy_special

from onemodel.kernels import _special


def _ulps(got: np.ndarray, exact: np.ndarray) -> float:
    spacing = np.spacing(np.abs(exact).astype(got.dtype)).astype(np.float64)
    return float(np.max(np.abs(got.astype(np.float64) - exact) / spacing))


def _sweep(dtype: type) -> np.ndarray:
    small = np.logspace(-30, 1, 50_000)
    return np.concatenate([small, -small, np.linspace(-7, 7, 100_001)]).astype(dtype)


def test_erf_of_float64_is_exact_to_a_few_last_places() -> None:
    x = _sweep(np.float64)
    assert _ulps(_special.erf(x), scipy_special.erf(x)) <= 8


def test_erf_of_float32_is_exact_to_eight_last_places() -> None:
    x = _sweep(np.float32)
    assert _ulps(_special.erf(x), scipy_special.erf(x.astype(np.float64))) <= 8


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_erf_keeps_signs_limits_and_nan(dtype: type) -> None:
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype=dtype)
    got = _special.erf(x)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.array([0, -0.0, 1, -1, np.nan], dtype=dtype))
    assert np.signbit(got[1])


def test_erf_of_a_scalar_and_of_nothing_are_arrays() -> None:
    for dtype in (np.float32, np.float64):
        assert _special.erf(np.array(0.5, dtype)).shape == ()
        assert _special.erf(np.zeros((0, 3), dtype)).shape == (0, 3)


def test_erf_reads_strided_arrays() -> None:
    x = np.linspace(-2, 2, 60, dtype=np.float32).reshape(6, 10)
    np.testing.assert_array_equal(_special.erf(x.T), _special.erf(x).T)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sigmoid_is_exact_and_silent_at_the_ends(dtype: type) -> None:
    x = np.array([-1e4, -100, -20, -1, 0, 1, 20, 100, 1e4, -np.inf, np.inf], dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = _special.sigmoid(x)
    np.testing.assert_allclose(got, scipy_special.expit(x), rtol=4e-7, atol=1e-44)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softplus_neither_overflows_nor_loses_small_values(dtype: type) -> None:
    x = np.array([-80, -20, -1, 0, 1, 20, 1000], dtype=dtype)
    got = _special.softplus(x)
    np.testing.assert_allclose(got, np.logaddexp(0, x.astype(np.float64)), rtol=4e-7)
