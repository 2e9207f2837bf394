"""Products and sums whose rounding is right, against rational arithmetic."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from onemodel.kernels import (
    conv,
    conv_transpose,
    einsum,
    reduce_l2,
    reduce_log_sum_exp,
    reduce_max,
    reduce_mean,
    reduce_prod,
    reduce_sum,
)
from onemodel.kernels.exact import product as exact_product
from onemodel.kernels.exact import sum as exact_sum
from onemodel.kernels.exact.product import matmul

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def dice(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def nearest(value: Fraction, dtype: Any) -> Any:
    """``value`` rounded to the nearest number of ``dtype``, ties to even; by trying neighbours."""
    with np.errstate(over="ignore"):
        guess = np.asarray(float(value)).astype(dtype)
    near = [guess, np.nextafter(guess, dtype(np.inf)), np.nextafter(guess, dtype(-np.inf))]
    bits = np.dtype(f"u{guess.dtype.itemsize}")
    return min(near, key=lambda n: (abs(_number(n) - value), int(np.asarray(n).view(bits)) & 1))


def _number(n: Any) -> Fraction:
    """Infinity stands where the next number would, were there larger exponents."""
    if np.isfinite(n):
        return Fraction(float(n))
    last = np.nextafter(n, n.dtype.type(0))
    return 2 * Fraction(float(last)) - Fraction(float(np.nextafter(last, n.dtype.type(0))))


def exactly(a: np.ndarray, b: np.ndarray, dtype: Any = np.float32) -> np.ndarray:
    """``a @ b`` of two matrices in rational arithmetic, rounded once."""
    kind = np.dtype(dtype)
    rows = [[Fraction(float(x)) for x in row] for row in a]
    columns = [[Fraction(float(x)) for x in column] for column in b.T]
    return np.array(
        [
            [nearest(sum((x * y for x, y in zip(r, c, strict=True)), Fraction()), kind.type)
             for c in columns]
            for r in rows
        ],
        kind,
    )  # fmt: skip


def ordinary(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = dice(m * k * n)
    return draw.standard_normal((m, k)), draw.standard_normal((k, n))


def wide_range(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = dice(m + k + n)
    a, b = ordinary(m, k, n)
    return a * np.exp2(draw.integers(-40, 40, (m, k))), b * np.exp2(draw.integers(-30, 30, (k, n)))


def cancelling(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Each product comes with its opposite and a whisper: almost nothing is left of the sums."""
    a, b = ordinary(m, k, n)
    half = k // 2
    a[:, half : 2 * half] = -a[:, :half]
    b[half : 2 * half] = b[:half] * (1 + np.exp2(-22.0))
    return a, b


def ties(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Sums that lie on, or a hair beside, the middle between two float32 numbers."""
    draw = dice(k)
    a, b = np.zeros((m, k)), np.ones((k, n))
    a[:, 0] = 1.0
    a[:, 1:2] = 2.0**-24
    if k > 2:
        a[:, 2] = np.exp2(-draw.integers(60, 120, m)) * draw.choice([-1, 0, 1], m)
    return a, b


def whole(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    draw = dice(m + k)
    return draw.integers(-9, 9, (m, k)).astype(float), draw.integers(-9, 9, (k, n)).astype(float)


@pytest.mark.parametrize("make", [ordinary, wide_range, cancelling, ties, whole])
@pytest.mark.parametrize("shape", [(3, 2, 4), (7, 33, 5), (5, 600, 6), (1, 1, 1), (9, 64, 1)])
def test_every_element_is_the_exact_sum_rounded_once(make, shape):
    a, b = (array.astype(np.float32) for array in make(*shape))
    np.testing.assert_array_equal(matmul(a, b), exactly(a, b), strict=True)


@pytest.mark.parametrize("make", [ordinary, wide_range, cancelling, whole])
@pytest.mark.parametrize("shape", [(9, 40, 7), (3, 600, 4)])
@pytest.mark.parametrize("dtype", [np.float16, BFLOAT16], ids=["float16", "bfloat16"])
def test_narrow_floats_round_once_too(make, shape, dtype):
    with np.errstate(over="ignore"):
        a, b = (array.astype(dtype) for array in make(*shape))
    a[~np.isfinite(a)], b[~np.isfinite(b)] = 1, 1
    wanted = exactly(a.astype(np.float64), b.astype(np.float64), dtype)
    np.testing.assert_array_equal(matmul(a, b), wanted, strict=True)


def beside_a_tie(bits: int, draw: np.random.Generator) -> list[float]:
    """Powers of two that sum to a tie of ``bits`` bits, moved by float64's last places and less."""
    exponents = [-52, -53, -54, -80, -100, -bits - 3]
    moved = draw.choice(exponents, draw.integers(0, 4)).astype(float)
    terms = [1.0, 2.0**-bits, *(draw.choice([-1, 1], len(moved)) * np.exp2(moved)), 64.0, -64.0]
    return [float(term) for term in draw.permutation(terms)]


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize(
    ("dtype", "bits"), [(np.float32, 24), (BFLOAT16, 8), (np.float16, 11)], ids=str
)
def test_what_moves_a_sum_off_a_tie_decides_its_rounding(dtype, bits, negative):
    draw = dice(bits)
    for _ in range(300):
        terms = beside_a_tie(bits, draw)
        # Each a product of two powers, as float16 has no 2**-100.
        halves = [math.frexp(term) for term in terms if abs(term) > 2.0**-48 or bits != 11]
        a = np.array([[math.ldexp(m, e // 2) for m, e in halves]]).astype(dtype)
        b = np.array([[math.ldexp(1.0, e - e // 2)] for _, e in halves]).astype(dtype)
        if negative:
            a = -a
        wanted = exactly(a.astype(np.float64), b.astype(np.float64), dtype)
        np.testing.assert_array_equal(matmul(a, b), wanted, strict=True)


def test_plain_rounding_of_a_float64_product_is_not_enough():
    """What the judging and repairing is for; were it dropped, tests would have to fail."""
    a, b = (array.astype(np.float32) for array in cancelling(60, 600, 60))
    plain = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    assert (plain != matmul(a, b)).any()


@pytest.mark.parametrize(
    ("left", "right"),
    [((4, 5), (5, 3)), ((2, 4, 5), (5, 3)), ((2, 4, 5), (2, 5, 3)), ((3, 1, 4, 5), (2, 5, 3)),
     ((5,), (5, 3)), ((4, 5), (5,)), ((5,), (5,)), ((2, 4, 5), (5,)), ((0, 5), (5, 3)),
     ((4, 0), (0, 3)), ((2, 0, 5), (5, 3))],
)  # fmt: skip
def test_shapes_are_those_of_numpy(left, right):
    a, b = dice().random(left, np.float32), dice(1).random(right, np.float32)
    wanted = np.matmul(a, b)
    found = matmul(a, b)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_an_element_depends_on_its_row_and_column_alone():
    a, b = (array.astype(np.float32) for array in wide_range(40, 300, 50))
    every = matmul(a, b)
    for pick in (slice(3, 4), slice(None, None, -1), [7, 7, 30]):
        np.testing.assert_array_equal(matmul(a[pick], b), every[pick])
        np.testing.assert_array_equal(matmul(a, b[:, pick]), every[:, pick])
    np.testing.assert_array_equal(matmul(b.T, a.T), every.T)
    np.testing.assert_array_equal(matmul(np.asfortranarray(a), b), every)
    order = dice(5).permutation(300)
    np.testing.assert_array_equal(matmul(a[:, order], b[order]), every)


def test_nan_and_infinity_follow_the_rules_of_a_sum():
    inf, nan = np.inf, np.nan
    a = np.array([[1, inf, 2], [inf, -inf, 1], [nan, 1, 1], [1, 2, 3], [-inf, 0, 1]], np.float32)
    b = np.array([[1, 0, 1, -2], [1, 0, inf, 1], [1, 0, 1, 1]], np.float32)
    found = matmul(a, b)
    wanted = np.array(
        [[inf, nan, inf, inf], [nan, nan, nan, -inf], [nan, nan, nan, nan], [6, 0, inf, 3],
         [-inf, nan, nan, inf]]
    )  # fmt: skip
    np.testing.assert_array_equal(found, wanted.astype(np.float32))
    big = np.full((2, 3), 3e38, np.float32)
    assert (matmul(big, big.T) == inf).all()


def test_every_zero_is_positive():
    zero = np.array([[-0.0, 1.0]], np.float32)
    for other in ([[1.0], [-0.0]], [[0.0], [0.0]], [[-0.0], [-1e-45]]):
        found = matmul(zero * np.float32(1e-3), np.array(other, np.float32))
        assert not np.signbit(found).any() or found.any()


def test_float64_adds_in_the_order_of_the_inner_axis():
    a, b = ordinary(5, 9, 4)
    wanted = np.zeros((5, 4))
    for k in range(9):
        wanted = wanted + a[:, k, None] * b[None, k]
    np.testing.assert_array_equal(matmul(a, b), wanted)
    np.testing.assert_array_equal(matmul(np.stack([a, a]), b)[1], wanted)


def test_integers_wrap_and_unknown_dtypes_are_refused():
    a = np.array([[100, 100]], np.int8)
    assert matmul(a, a.T).dtype == np.int8
    with pytest.raises(TypeError, match="no exact product of complex64"):
        matmul(np.ones((1, 1), np.complex64), np.ones((1, 1), np.complex64))
    with pytest.raises(ValueError, match="no common inner size"):
        matmul(np.ones((1, 2), np.float32), np.ones((3, 1), np.float32))


@pytest.mark.parametrize("most", [1, 7, 20, 100])
@pytest.mark.parametrize(
    ("left", "right"),
    [((7, 9), (9, 4)), ((4, 9), (9, 7)), ((3, 1, 4, 5), (2, 5, 3)), ((1, 6, 2), (4, 2, 8)),
     ((1, 1), (1, 9)), ((2, 3, 4, 5), (5, 3))],
)  # fmt: skip
def test_a_large_product_has_the_same_bits_in_pieces(left, right, most, monkeypatch):
    a, b = (
        dice(i).standard_normal(shape).astype(np.float32) for i, shape in enumerate([left, right])
    )
    a[..., 0, 0] = np.inf
    whole_one = matmul(a, b)
    monkeypatch.setattr(exact_product, "_PIECE", most)
    np.testing.assert_array_equal(matmul(a, b), whole_one, strict=True)


@pytest.mark.parametrize(
    ("x", "w"),
    [((1, 8, 1, 20000), (4, 8, 1, 9)), ((1, 8, 20000), (4, 8, 9)),
     ((1, 8, 2, 1, 9000), (4, 8, 1, 1, 9))],
)  # fmt: skip
def test_a_convolution_holds_few_windows_at_once_whatever_axis_is_long(x, w, monkeypatch):
    limit = 1 << 18
    monkeypatch.setattr("onemodel.kernels.exact.correlate._COLUMN_BYTES", limit)
    image, weights = dice().random(x, np.float32), dice(1).random(w, np.float32)
    conv.exact(image, weights)  # so that work memory is there
    tracemalloc.start()
    result = conv.exact(image, weights)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < result.nbytes + 3 * limit


@pytest.mark.parametrize("group", [1, 2, 4])
@pytest.mark.parametrize(
    "options",
    [{}, {"pads": [1, 2, 0, 1]}, {"strides": [2, 1]}, {"dilations": [1, 2], "pads": [2, 2, 2, 2]},
     {"auto_pad": "SAME_UPPER", "strides": [2, 3]}],
)  # fmt: skip
def test_a_convolution_is_the_exact_sum_of_each_window(group, options, monkeypatch):
    draw = dice(group)
    x = draw.standard_normal((2, 4, 9, 8)).astype(np.float32)
    w = draw.standard_normal((8, 4 // group, 3, 2)).astype(np.float32)
    b = draw.standard_normal(8).astype(np.float32)
    found = conv.exact(x, w, b, group=group, **options)
    np.testing.assert_allclose(found, conv.fast(x, w, b, group=group, **options), atol=2e-5)
    alone = conv.exact(x[1:], w, b, group=group, **options)
    np.testing.assert_array_equal(alone, found[1:])
    monkeypatch.setattr("onemodel.kernels.exact.correlate._COLUMN_BYTES", 2000)
    np.testing.assert_array_equal(conv.exact(x, w, b, group=group, **options), found)


def test_a_pointwise_convolution_is_the_product():
    draw = dice(2)
    x = draw.standard_normal((2, 5, 3, 4)).astype(np.float32)
    w = draw.standard_normal((6, 5, 1, 1)).astype(np.float32)
    wanted = matmul(w[:, :, 0, 0], x.reshape(2, 5, 12)).reshape(2, 6, 3, 4)
    np.testing.assert_array_equal(conv.exact(x, w), wanted)


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize(
    "options",
    [{}, {"strides": [2, 3]}, {"pads": [1, 0, 0, 1], "strides": [2, 1]}, {"dilations": [2, 2]},
     {"strides": [2, 2], "output_padding": [1, 1]}, {"auto_pad": "SAME_LOWER", "strides": [2, 2]}],
)  # fmt: skip
def test_a_transposed_convolution_gathers_the_same_sums(group, options):
    draw = dice(group)
    x = draw.standard_normal((2, 4, 5, 6)).astype(np.float32)
    w = draw.standard_normal((4, 3, 3, 2)).astype(np.float32)
    found = conv_transpose.exact(x, w, group=group, **options)
    np.testing.assert_allclose(
        found, conv_transpose.fast(x, w, group=group, **options), rtol=0, atol=1e-5
    )


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ij,jk->ik", [(3, 4), (4, 5)]), ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]),
     ("ii->i", [(4, 4)]), ("ii", [(4, 4)]), ("ij->ji", [(3, 4)]), ("ij->", [(3, 4)]),
     ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 6)]), ("i,j->ij", [(3,), (4,)]),
     ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]), ("bhij,bhj->bhi", [(1, 2, 3, 4), (1, 2, 4)]),
     ("i,i", [(5,), (5,)]), ("...i->...", [(2, 3, 4)]), ("ij,j", [(3, 1), (4,)]),
     ("iij,jk->ik", [(3, 3, 2), (2, 4)])],
)  # fmt: skip
def test_einsum_contracts_as_numpy_does(equation, shapes):
    arrays = [dice(i).random(shape, np.float32) for i, shape in enumerate(shapes)]
    wanted = np.einsum(equation, *arrays)
    found = einsum.exact(*arrays, equation=equation)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [("ii", [(2, 3)]), ("ii->i", [(1, 3)]), ("...ii->...", [(2, 3, 4)]), ("...->", [(2, 3)]),
     ("ij,jk", [(2, 3), (4, 5)]), ("ij->ik", [(2, 3)]), ("ij", [(2,)])],
)  # fmt: skip
def test_einsum_refuses_what_numpy_refuses(equation, shapes):
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    for function in (einsum.fast, einsum.exact):
        with pytest.raises(ValueError):
            function(*arrays, equation=equation)


@pytest.mark.parametrize("axes", [None, (0,), (1,), (2,), (0, 2), (1, 2), (-1, 0)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_do_not_depend_on_the_memory_layout(axes, keepdims):
    x = (dice().standard_normal((5, 7, 6)) * np.exp2(dice(1).integers(0, 40, (5, 7, 6)))).astype(
        "f"
    )
    found = exact_sum.total(x, axes, keepdims)
    wanted = np.sum(x.astype(np.float64), axis=axes, keepdims=keepdims)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    turned = np.asfortranarray(x)
    assert exact_sum.total(turned, axes, keepdims).tobytes() == found.tobytes()
    assert exact_sum.total(x[::1, ::-1][:, ::-1], axes, keepdims).tobytes() == found.tobytes()


@pytest.mark.parametrize("axes", [(3,), (-4,), (0, 5), (1, -2)])
@pytest.mark.parametrize(
    "kernel", [reduce_sum, reduce_mean, reduce_prod, reduce_l2, reduce_log_sum_exp, reduce_max]
)
def test_axes_that_are_not_there_or_twice_are_refused_as_by_fast_kernels(kernel, axes):
    x = np.ones((2, 3, 4), np.float32)
    for function in (kernel.fast, kernel.exact):
        with pytest.raises(ValueError, match="axis"):
            function(x, np.array(axes))
        with pytest.raises(ValueError, match="axis"):
            function(np.float32(1).reshape(()), np.array([0, 0]))


def test_empty_sums_and_products_are_neutral():
    x = np.zeros((0, 3), np.float32)
    assert exact_sum.total(x, (0,)).tolist() == [0, 0, 0]
    assert exact_sum.multiplied(x, (0,)).tolist() == [1, 1, 1]
    with np.errstate(all="ignore"):
        assert np.isnan(exact_sum.mean(x, (0,))).all()


def test_what_cannot_be_decided_at_once_is_repaired(monkeypatch):
    """With a bound a million times too large all elements are repaired, to the same bits."""
    a, b = (array.astype(np.float32) for array in ordinary(6, 40, 7))
    wanted = matmul(a, b)
    monkeypatch.setattr(exact_product, "_UNIT", 2.0**-30)
    np.testing.assert_array_equal(matmul(a, b), wanted)
