"""The functions of exact mode against mpmath, and that position and layout do not matter."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

from onemodel.kernels.exact import blocks as exact_blocks
from onemodel.kernels.exact import constants
from onemodel.kernels.exact import erf as exact_erf
from onemodel.kernels.exact import functions as exact
from onemodel.kernels.exact import log as exact_log
from tests.kernels.exact_oracles import ORACLES, is_nearest, mp, units_off
from tests.kernels.exact_samples import ALL, UNARY, grid, patterns

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
NAMES = sorted(UNARY)
INF, NAN = math.inf, math.nan
HUGE = [25000.0, 25000.5, 1e5, 2.0**60, 1e22, 6381956970095103 * 2.0**797, 1e300, 1.79e308]


@pytest.fixture(autouse=True)
def _precision() -> Iterator[None]:
    with mp.workprec(160):
        yield


def _samples(name: str, dtype: np.dtype, count: int) -> np.ndarray:
    spans = ORACLES[name].spans
    unit = grid(dtype, count, 1).astype(np.float64)
    parts = [
        low + (unit[i :: len(spans)] + 1) / 2 * (high - low) for i, (low, high) in enumerate(spans)
    ]
    return np.concatenate(parts).astype(dtype)


def _bits(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.dtype.itemsize}")


def _wrong(name: str, x: np.ndarray, got: np.ndarray) -> list[float]:
    """Arguments whose result is not the nearest float32.

    float64 of NumPy and SciPy, trusted to 2**-40, settles all but a few; mpmath the rest.
    """
    oracle = ORACLES[name]
    with np.errstate(all="ignore"):
        near = oracle.near(x.astype(np.float64))
        ends = [(near * (1 + side * 2.0**-40)).astype(got.dtype) for side in (-1, 1)]
    settled = (ends[0] == ends[1]) & (got == ends[0])
    return [
        float(value)
        for value, result in zip(x[~settled], got[~settled], strict=True)
        if not is_nearest(result, oracle.exact(mp.mpf(float(value))))
    ]


@pytest.mark.parametrize("name", NAMES)
def test_float32_results_are_the_nearest(name: str) -> None:
    x = _samples(name, SINGLE, 30_000)
    got = UNARY[name](x)
    wrong = _wrong(name, x, got)
    assert not wrong, f"{len(wrong)} of {x.size} misrounded, the first at {wrong[0]!r}"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_every_narrow_float_gives_the_nearest_result(name: str, kind: type) -> None:
    """Nearest to the float64 result, which has a test of its own."""
    every = np.arange(1 << 16, dtype=np.uint16).view(kind)
    got = UNARY[name](every)
    with np.errstate(all="ignore"):
        wide = UNARY[name](every.astype(np.float64))
        once = [wide * (1 - 2.0**-40), wide * (1 + 2.0**-40)]
        ends = [exact_blocks.rounded_to(end, every.dtype) for end in once]
    settled = (_bits(ends[0]) == _bits(ends[1])) & (_bits(got) == _bits(ends[0]))
    settled |= (got != got) & (wide != wide)
    # What is left lies next to a tie, or is one: as far off as the nearer end at most.
    off = np.abs(got[~settled].astype(np.float64) - wide[~settled])
    with np.errstate(all="ignore"):
        assert (off <= np.abs(ends[0][~settled].astype(np.float64) - wide[~settled])).all()
        assert (off <= np.abs(ends[1][~settled].astype(np.float64) - wide[~settled])).all()


@pytest.mark.parametrize("name", NAMES)
def test_float64_results_are_within_their_bound(name: str) -> None:
    oracle = ORACLES[name]
    x = _samples(name, DOUBLE, 1500)
    got = UNARY[name](x)
    worst, place = max(
        (units_off(result, oracle.exact(mp.mpf(value))), value)
        for value, result in zip(x.tolist(), got.tolist(), strict=True)
        if value
    )
    assert worst <= oracle.units, f"{worst:.2f} units at {place!r}"


def test_powers_are_the_nearest_and_half_a_unit_off_at_most() -> None:
    x = np.abs(grid(DOUBLE, 3000, 1)) * 10 + 1e-6
    y = np.roll(grid(DOUBLE, 3000, 100), 7)
    got = exact.pow(x, y)
    single = exact.pow(x.astype(np.float32), y.astype(np.float32))
    for i in range(x.size):
        value = mp.mpf(float(x[i])) ** mp.mpf(float(y[i]))
        if 1e-300 < value < 1e300:
            assert units_off(got[i], value) <= 0.51, (x[i], y[i])
        value = mp.mpf(float(np.float32(x[i]))) ** mp.mpf(float(np.float32(y[i])))
        if value < 3e38:
            assert is_nearest(single[i], value), (x[i], y[i])


def test_powers_treat_special_cases_as_ieee_754_does() -> None:
    inf, nan = math.inf, math.nan
    values = [0.0, 1.0, 0.5, 2.0, 3.0, 2.5, 7.0, 2.0**53, 1e300, 5e-324, 1 + 2.0**-52, inf]
    values = [*values, *(-value for value in values), nan]
    x, y = (part.reshape(-1) for part in np.meshgrid(values, values))
    for got, a, b in zip(exact.pow(x, y).tolist(), x.tolist(), y.tolist(), strict=True):
        try:
            expected = math.pow(a, b)
        except OverflowError:
            expected = -inf if a < 0 and b % 2 == 1 else inf
        except ValueError:  # 0 to a negative power, or a negative number to a fraction
            expected = math.copysign(inf, a if b % 2 == 1 else 1) if a == 0 else nan
        assert (math.isnan(got) and math.isnan(expected)) or (
            got == expected and math.copysign(1, got) == math.copysign(1, expected)
        ), (a, b)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0, 3.0, -1.0])
def test_a_lone_exponent_and_one_in_an_array_give_the_same_bits(exponent: float) -> None:
    for dtype in (SINGLE, DOUBLE):
        x = np.concatenate([patterns(dtype, 5000), grid(dtype, 5000, 4)])
        many = exact.pow(x, np.full(x.shape, exponent))
        np.testing.assert_array_equal(_bits(exact.pow(x, np.array(exponent))), _bits(many))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_huge_angles_are_reduced_without_loss(name: str) -> None:
    x = np.array([*HUGE, *(-value for value in HUGE)])
    single = np.array([3e38, 1e10, 16777216, 33333.332], np.float32)
    multiples = np.arange(1, 2000) * (np.pi / 2)  # the nearest to a zero or a pole
    for inputs in (x, single, multiples):
        got = UNARY[name](inputs)
        with mp.workprec(1300):
            for value, result in zip(inputs, got, strict=True):
                oracle = ORACLES[name].exact(mp.mpf(float(value)))
                if inputs.dtype == SINGLE:
                    assert is_nearest(result, oracle), value
                else:
                    assert units_off(result, oracle) <= ORACLES[name].units, value


LIMITS: dict[str, list[tuple[float, float]]] = {
    "exp": [(0.0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (1e4, INF), (-1e4, 0)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (-1e4, -1)],
    "log": [
        (0.0, -INF),
        (-0.0, -INF),
        (1.0, 0.0),
        (INF, INF),
        (-1.0, NAN),
    ],
    "log1p": [(-0.0, -0.0), (-1.0, -INF), (-2.0, NAN), (INF, INF)],
    "sin": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)],
    "cos": [(0.0, 1), (-0.0, 1), (INF, NAN)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (INF, NAN)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (1.0, math.pi / 2), (-1.0, -math.pi / 2), (2.0, NAN)],
    "acos": [
        (1.0, 0.0),
        (-1.0, math.pi),
        (0.0, math.pi / 2),
        (-2.0, NAN),
        (INF, NAN),
    ],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "cosh": [(0.0, 1), (INF, INF), (-INF, INF)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (1e30, 1)],
    "asinh": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF)],
    "acosh": [(1.0, 0.0), (0.5, NAN), (INF, INF), (-INF, NAN), (-3e9, NAN), (-1e19, NAN)],
    "atanh": [
        (-0.0, -0.0),
        (1.0, INF),
        (-1.0, -INF),
        (2.0, NAN),
        (-INF, NAN),
    ],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (7.0, 1)],
    "sigmoid": [(0.0, 0.5), (INF, 1), (-INF, 0), (1e4, 1), (-1e4, 0)],
    "softplus": [(0.0, math.log(2)), (INF, INF), (-INF, 0)],
    "gelu": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-100.0, -0.0)],
    "elu": [(0.0, 0.0), (-0.0, 0.0), (INF, INF), (-INF, -1.5)],
    "celu": [(0.0, 0.0), (-0.0, 0.0), (INF, INF), (-INF, -1.5)],
    "mish": [(0.0, 0.0), (-0.0, -0.0), (INF, INF)],
    "swish": [(0.0, 0.0), (-0.0, -0.0), (INF, INF)],
}


@pytest.mark.parametrize("name", sorted(LIMITS))
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_zeros_infinities_and_the_ends_of_a_domain_are_those_of_ieee_754(
    name: str, dtype: np.dtype
) -> None:
    x, expected = np.array(LIMITS[name], dtype).T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = UNARY[name](x)
    np.testing.assert_array_equal(got, expected)
    finite = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[finite], np.signbit(expected)[finite])


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize(
    ("kind", "bits"),
    [
        (np.float16, 0x7E00),
        (ml_dtypes.bfloat16, 0x7FC0),
        (np.float32, 0x7FC00000),
        (np.float64, 0x7FF8000000000000),
    ],
)
def test_nan_comes_out_in_one_form(name: str, kind: type, bits: int) -> None:
    x = patterns(np.dtype(kind), 4000)
    with np.errstate(invalid="ignore"):
        got = ALL[name](x)
    missing = got != got
    assert missing.any()
    assert set(_bits(got)[missing].tolist()) == {bits}


@pytest.mark.parametrize("name", NAMES)
def test_subnormal_numbers_go_in_and_come_out(name: str) -> None:
    """exp(-100) in float32, and odd functions of the smallest numbers, which are themselves."""
    if name in ("exp", "sigmoid", "softplus"):
        x = np.linspace(-104, -87, 2000, dtype=np.float32)
        assert not _wrong(name, x, UNARY[name](x))
        assert (UNARY[name](x) < 2.0**-126).any()
    if name in ("expm1", "log1p", "sin", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh"):
        for x in (np.array([5e-324, -1e-310, 2e-308]), np.array([1e-45, -1e-40], np.float32)):
            np.testing.assert_array_equal(UNARY[name](x), x)


def test_exp_rounds_once_where_the_result_is_subnormal() -> None:
    x = -708 - (grid(DOUBLE, 2000, 1) + 1) * 18
    for value, got in zip(x.tolist(), exact.exp(x).tolist(), strict=True):
        true = mp.exp(mp.mpf(value))
        # Half a unit of the subnormal numbers, and what the significand was off before.
        assert abs(mp.mpf(got) - true) <= mp.mpf(2) ** -1075 + true * mp.mpf(2) ** -52


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("dtype", [SINGLE, DOUBLE], ids=str)
def test_neither_layout_nor_neighbours_change_an_element(name: str, dtype: np.dtype) -> None:
    block = exact_blocks.BLOCK
    x = np.concatenate([grid(dtype, block + 300, 9), patterns(dtype, 200)])
    if name in ("pow", "pow_signed", "swi_glu"):  # these samples pair neighbours themselves
        return
    whole = _bits(UNARY[name](x) if name in UNARY else ALL[name](x))
    function = ALL[name]
    np.testing.assert_array_equal(_bits(function(x[::-1])), whole[::-1])
    np.testing.assert_array_equal(_bits(function(x[::3])), whole[::3])
    np.testing.assert_array_equal(
        _bits(function(x[: 2 * 50].reshape(2, 50).T)).T.ravel(), whole[:100]
    )
    np.testing.assert_array_equal(_bits(function(x[5:])), whole[5:])
    for place in (0, 7, block - 1, block, x.size - 190, x.size - 1):
        alone = function(x[place].reshape(()))
        assert alone.shape == ()
        assert alone.dtype == dtype
        assert int(_bits(alone)) == int(whole[place])
    assert function(x[:0].reshape(0, 3)).shape == (0, 3)


def test_two_arguments_go_element_by_element() -> None:
    x = np.abs(grid(SINGLE, 4000, 5))
    y = np.roll(grid(SINGLE, 4000, 5), 3)
    for function in (exact.pow, exact.swi_glu):
        whole = function(x, y)
        np.testing.assert_array_equal(function(x[::-2], y[::-2]), whole[::-2])
        np.testing.assert_array_equal(function(x[9:10], y[9:10]), whole[9:10])
    np.testing.assert_array_equal(exact.pow(x[:, None], y[:3]), exact.pow(x[:, None], y[None, :3]))


def test_a_result_may_go_into_an_array_even_the_input() -> None:
    x = grid(DOUBLE, 20_000, 5)
    for function in (exact.exp64, exact.tanh64, exact.sigmoid64, exact.erf64, exact.expm1_64):
        expected = function(x)
        assert function(x, np.empty_like(x)).tobytes() == expected.tobytes()
        own = x.copy()
        assert function(own, own) is own
        np.testing.assert_array_equal(own, expected)
    with pytest.raises(ValueError, match="contiguous float64"):
        exact.exp64(x, np.empty(40_000)[::2])
    with pytest.raises(TypeError, match="not int64"):
        exact.exp(np.arange(3))


@pytest.mark.parametrize("kind", [np.float16, ml_dtypes.bfloat16])
def test_rounding_to_a_narrow_float_happens_once(kind: type) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(kind)
    with np.errstate(invalid="ignore"):
        finite = np.unique(every[np.isfinite(every)].astype(np.float64))
    ties = (finite[1:] + finite[:-1]) / 2
    even = ties.astype(np.float32).astype(kind)  # a tie is exact in float32
    for side, expected in ((-np.inf, finite[:-1]), (np.inf, finite[1:])):
        got = exact_blocks.rounded_to(np.nextafter(ties, side), np.dtype(kind))
        np.testing.assert_array_equal(got.astype(np.float64), expected)
    np.testing.assert_array_equal(exact_blocks.rounded_to(ties, np.dtype(kind)), even)


def test_the_parts_above_and_below_zero_have_a_positive_zero() -> None:
    x = np.array([0.0, -0.0, 3.0, -3.0, 0.0] * 5)
    for part, sign in ((exact_blocks.positive_part, 1), (exact_blocks.negative_part, -1)):
        got = np.empty_like(x)
        part(x, got)
        np.testing.assert_array_equal(got, np.where(x * sign > 0, x, 0.0))
        assert not np.signbit(got[got == 0]).any()


def test_tables_are_right_to_more_places_than_they_keep() -> None:
    with mp.workprec(400):
        unit = mp.mpf(2) ** -240
        assert abs(mp.mpf(constants.pi()) / constants.ONE - mp.pi) < unit
        assert abs(mp.mpf(constants.ln2()) / constants.ONE - mp.log(2)) < unit
        for j, value in enumerate(constants.powers_of_two(512)):
            assert abs(mp.mpf(value) / constants.ONE - mp.mpf(2) ** (mp.mpf(j) / 512)) < unit
        for j, value in enumerate(constants.sines(1024)):
            assert abs(mp.mpf(value) / constants.ONE - mp.sin(2 * mp.pi * j / 1024)) < unit
        for c in range(2900, 5900, 100):
            assert abs(mp.mpf(constants.log(c, 4096)) / constants.ONE - mp.log(c / 4096)) < unit
        for j in range(65):
            value = mp.mpf(constants.arctangent(j, 64)) / constants.ONE
            assert abs(value - mp.atan(mp.mpf(j) / 64)) < unit


def test_the_expansions_behind_erf_end_in_one_and_leave_little_out() -> None:
    series = exact_erf.expansions()
    assert abs(series[0][0] - constants.ONE) < 1 << 20
    for (numerator, denominator), terms in zip(exact_erf._points(), series, strict=True):
        reach = (numerator / denominator + 1) / 2**8 + 2.0**-15
        left_out = sum(
            abs(term / constants.ONE) * reach**n for n, term in enumerate(terms) if n > 7
        )
        assert left_out < 2.0**-58 * terms[0] / constants.ONE


def test_the_remainder_of_the_logarithm_is_as_small_as_its_series_needs() -> None:
    tables = exact_log.tables()
    steps = np.arange(129, dtype=np.int64) * exact_log._STEP + exact_log._FIRST
    ends = steps.view(np.float64)
    reach = np.maximum(np.abs(ends[:-1] * tables.c - 1), np.abs(ends[1:] * tables.c - 1))
    assert reach.max() < 2.0**-7.9
    assert tables.c[75] == 1
    assert tables.high[75] == tables.low[75] == 0
