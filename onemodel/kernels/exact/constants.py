"""Constants and tables for exact mode, from integer arithmetic when first asked for.

A fixed-point number here is a Python integer in units of 2**-256. Python's integers and
its correctly rounded ``int / int`` are the same on every machine, so the tables are too,
and nothing has to be believed: there is no list of digits to mistype.
"""

from __future__ import annotations

import functools
import math

import numpy as np

_PLACES = 256
"""Binary places. The sums below lose at most some hundred units of the last one."""

ONE = 1 << _PLACES


def rounded(value: int) -> float:
    """A fixed-point number as the nearest float64."""
    return value / ONE


def pair(value: int) -> tuple[float, float]:
    """A fixed-point number as a float64 and what its rounding left over."""
    high = value / ONE
    numerator, denominator = high.as_integer_ratio()
    return high, (value - numerator * ONE // denominator) / ONE


def parts(value: int, places: list[int]) -> tuple[float, ...]:
    """A positive fixed-point number as a sum of floats that are multiples of ``2**-places``.

    Each but the last is cut off at its place, so that few bits are left in it and its
    product with a small integer is exact; the last takes the rest, rounded.
    """
    found = []
    for place in places:
        unit = 1 << (_PLACES - place)
        part = value // unit * unit
        found.append(part / ONE)
        value -= part
    return (*found, value / ONE)


def _inverse_tangent(numerator: int, denominator: int, sign: int, one: int = ONE) -> int:
    """atan (``sign`` -1) or atanh (``sign`` +1) of a fraction up to 1/2, by its series."""
    power = one * numerator // denominator
    total, n = 0, 1
    while power:
        total += power // n if sign > 0 or n % 4 == 1 else -(power // n)
        power = power * numerator * numerator // (denominator * denominator)
        n += 2
    return total


@functools.cache
def pi(places: int = _PLACES) -> int:
    """pi by Machin's formula, 16 atan(1/5) - 4 atan(1/239), in units of 2**-places."""
    one = 1 << places
    return 16 * _inverse_tangent(1, 5, -1, one) - 4 * _inverse_tangent(1, 239, -1, one)


@functools.cache
def ln2() -> int:
    """log(2) = 2 atanh(1/3)."""
    return 2 * _inverse_tangent(1, 3, 1)


def log(numerator: int, denominator: int) -> int:
    """The logarithm of a fraction between 1/2 and 2: 2 atanh((a - b) / (a + b))."""
    difference, total = numerator - denominator, numerator + denominator
    size = 2 * _inverse_tangent(abs(difference), total, 1)
    return size if difference >= 0 else -size


def arctangent(numerator: int, denominator: int) -> int:
    """atan of a fraction between 0 and 1; above 1/2 by way of pi / 4."""
    if 2 * numerator > denominator:
        return pi() // 4 - _inverse_tangent(denominator - numerator, denominator + numerator, -1)
    return _inverse_tangent(numerator, denominator, -1)


@functools.cache
def powers_of_two(steps: int) -> tuple[int, ...]:
    """2**(j / steps) for j below ``steps``, a power of two."""
    root = 2 * ONE
    for _ in range(steps.bit_length() - 1):
        root = math.isqrt(root * ONE)
    values = [ONE]
    for _ in range(steps - 1):
        values.append(values[-1] * root // ONE)
    return tuple(values)


def sines(steps: int) -> list[int]:
    """sin(2 pi j / steps) for j below ``steps``, a multiple of four; zeros and ones are exact."""
    sine, cosine = _sine_and_cosine(2 * pi() // steps)
    quarter, s, c = [0], 0, ONE
    for _ in range(steps // 4 - 1):
        s, c = (s * cosine + c * sine) // ONE, (c * cosine - s * sine) // ONE
        quarter.append(s)
    half = [*quarter, ONE, *quarter[:0:-1]]
    return half + [-value for value in half]


def _sine_and_cosine(angle: int) -> tuple[int, int]:
    sums, term, n = [0, 0], ONE, 0
    while term:
        sums[n % 2] += term if n % 4 < 2 else -term
        n += 1
        term = term * angle // ONE // n
    return sums[1], sums[0]


def float_table(values: list[float]) -> np.ndarray:
    """A table that nobody can write to."""
    table = np.array(values, np.float64)
    table.setflags(write=False)
    return table
