"""Special functions that NumPy lacks: erf to full accuracy, a sigmoid that cannot warn.

erf in float64 follows W. J. Cody, "Rational Chebyshev approximation for the
error function", Math. Comp. 23 (1969); in float32 one odd rational function
covers the whole range, which costs no masks.
"""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import is_narrow

_BLOCK = 16384
"""Elements per block: two float32 work arrays of this size stay in a first-level cache."""

# erf(x) = x * P(x^2) / Q(x^2) on [-4, 4], beyond which float32 erf is 1.
_P32 = (
    -2.72614225801306e-10,
    2.77068142495902e-08,
    -2.10102402082508e-06,
    -5.69250639462346e-05,
    -7.34990630326855e-04,
    -2.95459980854025e-03,
    -1.60960333262415e-02,
)
_Q32 = (
    -1.45660718464996e-05,
    -2.13374055278905e-04,
    -1.68282697438203e-03,
    -7.37332916720468e-03,
    -1.42647390514189e-02,
)

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
    """erf of a float32 array, in cache-sized blocks; within 8 units in the last place."""
    result = np.empty(x.shape, np.float32)
    source, target = np.ascontiguousarray(x).reshape(-1), result.reshape(-1)
    size = min(_BLOCK, source.size)
    square, work = np.empty(size, np.float32), np.empty(size, np.float32)
    for start in range(0, source.size, _BLOCK):
        part, out = source[start : start + _BLOCK], target[start : start + _BLOCK]
        _erf32_block(part, out, square[: part.size], work[: part.size])
    return result


def _erf32_block(x: np.ndarray, out: np.ndarray, square: np.ndarray, work: np.ndarray) -> None:
    np.clip(x, -4.0, 4.0, out=out)
    np.multiply(out, out, out=square)
    np.multiply(square, np.float32(_P32[0]), out=work)
    for coefficient in _P32[1:-1]:
        work += np.float32(coefficient)
        work *= square
    work += np.float32(_P32[-1])
    out *= work
    np.multiply(square, np.float32(_Q32[0]), out=work)
    for coefficient in _Q32[1:-1]:
        work += np.float32(coefficient)
        work *= square
    work += np.float32(_Q32[-1])
    out /= work
    np.clip(out, -1.0, 1.0, out=out)


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
    result = np.asarray(np.abs(x))
    np.negative(result, out=result)
    np.exp(result, out=result)
    np.log1p(result, out=result)
    result += np.maximum(x, x.dtype.type(0))
    return result
