"""Special functions that NumPy lacks: erf to full accuracy, a sigmoid that cannot warn.

erf in float64 follows W. J. Cody, "Rational Chebyshev approximation for the
error function", Math. Comp. 23 (1969); in float32 it is the tanh of one odd
polynomial, which covers the whole range without masks.
"""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import is_narrow
from onemodel.kernels._scratch import scratch

_BLOCK = 16384
"""Elements per block: the work arrays of a block stay in cache from pass to pass."""

# f(x) = tanh(x * P(x^2)), lowest power first, because tanh is the cheapest function
# that saturates. The coefficients of erf are a minimax fit of the relative error on
# [0, 3.95], beyond which float32 erf is 1 and x P(x^2) stays above 8.9.
_ERF32 = (
    1.1283792743390797,
    0.10276905551884369,
    -1.91830230609216e-4,
    -6.197851144898967e-4,
    8.763748631859523e-5,
    -5.668499806831055e-6,
    1.418535208612209e-7,
)
_NORMAL32 = tuple(c * 2.0 ** -(i + 0.5) for i, c in enumerate(_ERF32))
"""erf(x / sqrt(2))"""
_TANH_GELU = (0.7978845608028654, 0.7978845608028654 * 0.044715)
"""The argument of GELU's tanh form: sqrt(2 / pi) (x + 0.044715 x^3)."""

# |x| <= 0.46875: erf(x) = x * A(x^2) / B(x^2)
_A = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_B = (
    1.0,
    2.36012909523441209e1,
    2.44024637934444173e2,
    1.28261652607737228e3,
    2.84423683343917062e3,
)
# 0.46875 < |x| <= 4: erfc(x) = exp(-x^2) * C(x) / D(x)
_C = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594e0,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
_D = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
# |x| > 4: erfc(x) = exp(-x^2) / x * (1/sqrt(pi) - P(1/x^2) / (x^2 Q(1/x^2)))
_P = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
_Q = (
    1.0,
    2.56852019228982242e0,
    1.87295284992346725e0,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)
_INVERSE_SQRT_PI = 0.56418958354775628695
_FLAT = 6.0
"""float64 erf is 1 from 5.93 on."""


def erf(x: np.ndarray) -> np.ndarray:
    """The error function, in the dtype of ``x`` (float16 and bfloat16 through float32)."""
    if x.dtype == np.float64:
        return _erf_float64(x)
    if is_narrow(x.dtype):
        return erf32(x.astype(np.float32)).astype(x.dtype)
    if x.dtype.kind in "iu":  # opset 9 allowed integers; the result keeps their type
        return _erf_float64(x.astype(np.float64)).astype(x.dtype)
    return erf32(x)


def erf32(x: np.ndarray) -> np.ndarray:
    """erf of a float32 array; within 4 units in the last place."""
    return _blockwise(x, _ERF32, gelu=False)


def gelu(x: np.ndarray, approximate: bool) -> np.ndarray:
    """x (1 + erf(x / sqrt(2))) / 2 of a float32 or float64 array, or its tanh form."""
    if approximate:
        return _blockwise(x, _TANH_GELU, gelu=True)
    if x.dtype == np.float32:
        return _blockwise(x, _NORMAL32, gelu=True)
    result = erf(np.asarray(x * 0.7071067811865476))
    result += 1
    result *= x
    result *= 0.5
    return result


def _blockwise(x: np.ndarray, coefficients: tuple[float, ...], gelu: bool) -> np.ndarray:
    """tanh(x P(x^2)), or x (1 + that) / 2, in cache-sized blocks."""
    result = np.empty(x.shape, x.dtype)
    source, target = np.ascontiguousarray(x).reshape(-1), result.reshape(-1)
    power = [x.dtype.type(c) for c in coefficients]
    square = scratch("square", (min(_BLOCK, source.size),), x.dtype)
    # A huge x overflows to an infinity of the right sign, whose tanh is exact.
    with np.errstate(over="ignore"):
        for start in range(0, source.size, _BLOCK):
            part, out = source[start : start + _BLOCK], target[start : start + _BLOCK]
            t = np.multiply(part, part, out=square[: part.size])
            np.multiply(t, power[-1], out=out)
            for c in power[-2:0:-1]:
                out += c
                out *= t
            out += power[0]
            out *= part
            np.tanh(out, out=out)
            if gelu:
                out += 1
                out *= part
                out *= 0.5
    return result


def _erf_float64(x: np.ndarray) -> np.ndarray:
    y = np.abs(x)
    result = np.asarray(np.where(np.isnan(x), x, 1.0))
    near = y <= 0.46875
    middle = (y > 0.46875) & (y <= 4.0)
    far = (y > 4.0) & (y < _FLAT)
    part = x[near]
    result[near] = part * _horner(_A, part * part) / _horner(_B, part * part)
    part = y[middle]
    result[middle] = 1.0 - _exp_minus_square(part) * _horner(_C, part) / _horner(_D, part)
    part = y[far]
    inverse = 1.0 / (part * part)
    tail = inverse * _horner(_P, inverse) / _horner(_Q, inverse)
    result[far] = 1.0 - _exp_minus_square(part) / part * (_INVERSE_SQRT_PI - tail)
    return np.where(near, result, np.copysign(result, x))


def _horner(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    result = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result *= x
        result += coefficient
    return result


def _exp_minus_square(x: np.ndarray) -> np.ndarray:
    # The square is split so that its rounding does not become a relative error of exp.
    head = np.trunc(x * 16.0) / 16.0
    return np.exp(-head * head) * np.exp(-(x - head) * (x + head))


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)) of a float array; exp may overflow to infinity, which gives 0."""
    result = np.asarray(np.negative(x))
    with np.errstate(over="ignore"):
        np.exp(result, out=result)
    result += 1
    return np.reciprocal(result, out=result)


def softplus(x: np.ndarray) -> np.ndarray:
    """log(1 + exp(x)) of a float array, without overflow."""
    small = np.asarray(np.abs(x))
    np.negative(small, out=small)
    np.exp(small, out=small)
    # log(1 + e) as log(u) e / (u - 1) with u = 1 + e rounded: exact, and several times
    # faster than NumPy's log1p. Where u is 1 the answer is e itself.
    rounded = np.asarray(small + 1)
    part = np.asarray(rounded - 1)
    np.log(rounded, out=rounded)
    rounded *= small
    lost = part == 0
    part += lost
    rounded /= part
    small *= lost
    rounded += small
    rounded += np.maximum(x, x.dtype.type(0))
    return rounded
