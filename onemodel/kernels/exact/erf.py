"""The error function and the Gaussian unit, the same bits on every machine.

Both rest on f(y) = exp(y**2) erfc(y) for y >= 0, which falls smoothly from 1 like
1 / (y sqrt(pi)). A table holds its Taylor coefficients up to degree 7 at 640 points, 128 for
each octave of y + 1, at most 2**-8 (y + 1) away; they omit less than 2**-60 f. They are found
from the differential equation f' = 2 y f - 2 / sqrt(pi): the coefficients at one point from
f there, and f at the next smaller point from them, which damps errors. The first value is
the continued fraction of erfc at 31 (Abramowitz and Stegun 7.1.14); at 0 it must give 1.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from onemodel.kernels.exact import constants
from onemodel.kernels.exact.blocks import Rows
from onemodel.kernels.exact.exp import exp_core, expm1_unsigned, sigmoid_core

_ONE = constants.ONE
_OCTAVES, _PER_OCTAVE_BITS = 5, 7
_DEGREE = 7
_HALF_STEP = 2.0**-8
"""Added to y + 1, so that 0 is the middle of the first interval and not its end."""

_BASE = 0x3FF << _PER_OCTAVE_BITS
_MOST = 30.0
"""erfc underflows before."""

_HEAD = -(1 << 27)
_SQRT_HALF = 0.7071067811865476


@dataclass(frozen=True)
class _Tables:
    """Points, Taylor coefficients of f by power, and f - 1 with what its rounding lost."""

    point: np.ndarray
    powers: tuple[np.ndarray, ...]
    less_one: np.ndarray
    less_one_rest: np.ndarray


def _points() -> list[tuple[int, int]]:
    """The middles of the intervals as fractions."""
    steps = 1 << _PER_OCTAVE_BITS
    points = []
    for octave in range(_OCTAVES):
        for step in range(steps):
            # 2**octave (1 + (step + 1/2) / steps) - 1 - 1 / (2 steps)
            numerator = (1 << octave) * (2 * (steps + step) + 1) - 2 * steps - 1
            points.append((numerator, 2 * steps))
    return points


def _taylor(value: int, point: int, terms: int) -> list[int]:
    """Coefficients of f around a fixed-point ``point`` where it is ``value``."""
    slope = 2 * _ONE * _ONE // math.isqrt(constants.pi() * _ONE)
    found = [value, 2 * point * value // _ONE - slope]
    for n in range(1, terms - 1):
        found.append((2 * point * found[n] // _ONE + 2 * found[n - 1]) // (n + 1))
    return found


def _first_value(point: int) -> int:
    """f by the continued fraction 1 / (y + (1/2) / (y + 1 / (y + (3/2) / ...))) / sqrt(pi)."""
    below = point
    for n in range(200, 0, -1):
        below = point + n * _ONE * _ONE // 2 // below
    return _ONE * _ONE // below * _ONE // math.isqrt(constants.pi() * _ONE)


def expansions() -> list[list[int]]:
    """For each point the fixed-point coefficients of f, as many as the next point needs."""
    points = [_ONE * numerator // denominator for numerator, denominator in _points()]
    value, last = _first_value(31 * _ONE), 31 * _ONE
    series = _taylor(value, last, 80)
    found = []
    for point in reversed(points):
        step, value = point - last, 0
        for coefficient in reversed(series):
            value = value * step // _ONE + coefficient
        series, last = _taylor(value, point, 45), point
        found.append(series)
    return found[::-1]


@functools.cache
def _tables() -> _Tables:
    series = expansions()
    series[0][0] = _ONE
    table = constants.float_table
    powers = [table([constants.rounded(s[n]) for s in series]) for n in range(_DEGREE + 1)]
    pairs = [constants.pair(s[0] - _ONE) for s in series]
    return _Tables(
        point=table([numerator / denominator for numerator, denominator in _points()]),
        powers=tuple(powers),
        less_one=table([high for high, _ in pairs]),
        less_one_rest=table([low for _, low in pairs]),
    )


def _difference(y: np.ndarray, out: np.ndarray, rows: Rows) -> np.ndarray:
    """f(y) less f at the nearest point, into ``out``; the point's index. Uses 3 rows."""
    tables = _tables()
    shifted, b, coefficient = rows[:3]
    np.add(y, 1.0 + _HALF_STEP, out=shifted)
    index = shifted.view(np.int64)
    index >>= 52 - _PER_OCTAVE_BITS
    index -= _BASE
    np.take(tables.point, index, out=b, mode="wrap")
    np.subtract(y, b, out=b)
    np.take(tables.powers[_DEGREE], index, out=out, mode="wrap")
    for power in tables.powers[_DEGREE - 1 : 0 : -1]:
        out *= b
        np.take(power, index, out=coefficient, mode="wrap")
        out += coefficient
    out *= b
    return index


def erf_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """(1 - f) e - (e - 1) with e = exp(-x**2), two positive terms; within 2 units. 8 rows."""
    y, e = rows[6], rows[7]
    np.abs(x, out=y)
    np.fmin(y, _MOST, out=y)
    np.multiply(y, y, out=out)
    np.negative(out, out=out)
    expm1_unsigned(out, e, rows)
    index = _difference(y, out, rows)
    part = rows[1]
    np.take(_tables().less_one_rest, index, out=part, mode="wrap")
    out += part
    np.take(_tables().less_one, index, out=part, mode="wrap")
    out += part
    np.add(e, 1.0, out=part)
    out *= part
    out += e
    np.copysign(out, x, out=out)
    _keep_nan(x, out)


def gelu_core(x: np.ndarray, out: np.ndarray, rows: Rows, short: bool) -> None:
    """x Phi(x) with Phi from f(|x| / sqrt(2)) exp(-x**2 / 2), also far below zero. 10 rows.

    ``short``: the significands have at most 26 bits, so that x**2 is exact; otherwise the
    part that its rounding loses is carried along. Within 3 units.
    """
    y, square, e = rows[6], rows[7], rows[8]
    np.abs(x, out=y)
    np.fmin(y, 2 * _MOST, out=y)
    np.multiply(y, y, out=square)
    low = None if short else _lost(y, square, rows)
    square *= -0.5
    exp_core(square, e, rows, low)
    y *= _SQRT_HALF
    np.fmin(y, _MOST, out=y)
    index = _difference(y, out, rows)
    np.take(_tables().powers[0], index, out=y, mode="wrap")
    out += y
    out *= e
    out *= 0.5
    np.subtract(1.0, out, out=y)
    np.copyto(out, y, where=x > 0)
    out *= x


def _lost(y: np.ndarray, square: np.ndarray, rows: Rows) -> np.ndarray:
    """-1/2 of y**2 less ``square``, its rounded value (Dekker), in a row of its own."""
    low = rows[9]
    head = np.bitwise_and(y.view(np.int64), _HEAD).view(np.float64)
    tail = y - head
    np.multiply(head, head, out=low)
    low -= square
    low += 2.0 * head * tail
    low += tail * tail
    low *= -0.5
    return low


_SQRT_8_OVER_PI = 1.5957691216057308


def gelu_tanh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """x (1 + tanh(u)) / 2 = x sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x**3). 8 rows.

    Within 3 units and as much as the rounding of 2 u moves the result, relatively |u| 2**-52.
    """
    u = rows[7]
    np.multiply(x, x, out=u)
    u *= 0.044715
    u += 1.0
    u *= x
    u *= _SQRT_8_OVER_PI
    sigmoid_core(u, out, rows)
    out *= x


def _keep_nan(x: np.ndarray, out: np.ndarray) -> None:
    missing = np.isnan(x)
    if missing.any():
        np.copyto(out, np.nan, where=missing)
