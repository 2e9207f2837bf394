"""Sine, cosine and tangent, the same bits on every machine, for arguments of any size.

x = k pi / 512 + b with |b| <= pi / 1024 < 2**-8.34, and

    sin(x) = sin(a) + (sin(a) (cos(b) - 1) + cos(a) sin(b)),  a = (k mod 1024) pi / 512,

with sin(a) and cos(a) from tables of the whole period. sin(b) and cos(b) - 1 are Taylor
polynomials of degree 5 and 4; they omit less than 2**-62 b and 2**-59. k pi / 512 is
subtracted in parts with 30 bits, whose products with k are exact (Cody and Waite);
for large x by integer arithmetic with 1300 places of 512 / pi (Payne and Hanek).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from onemodel.kernels.exact import constants
from onemodel.kernels.exact.blocks import Rows

_STEPS = 1024
_QUARTER = _STEPS // 4
_MAGIC = 1.5 * 2.0**52
"""Added to a number below 2**51 it leaves the nearest integer in the low bits."""

_LARGE = 25000.0
"""Up to here k stays below 2**22."""

_PLACES = 1300
"""Of 512 / pi: 1024 for the largest exponent, the rest for what cancels and what stays."""


@dataclass(frozen=True)
class _Tables:
    """pi / 512 in parts, and sin and cos of its multiples; what rounding the sine lost."""

    inverse_step: float
    parts: tuple[float, ...]
    sine: np.ndarray
    rest: np.ndarray
    cosine: np.ndarray


@functools.cache
def _tables() -> _Tables:
    pairs = [constants.pair(value) for value in constants.sines(_STEPS)]
    sine = constants.float_table([high for high, _ in pairs])
    cosine = np.roll(sine, -_QUARTER)
    cosine.setflags(write=False)
    step = 2 * constants.pi() // _STEPS
    return _Tables(
        inverse_step=constants.rounded(constants.ONE * constants.ONE // step),
        parts=constants.parts(step, [37, 67, 97]),
        sine=sine,
        rest=constants.float_table([low for _, low in pairs]),
        cosine=cosine,
    )


@functools.cache
def _inverse_step_places() -> int:
    return (_STEPS // 2 << 2 * _PLACES) // constants.pi(_PLACES)


def _reduced_large(x: float) -> tuple[int, float]:
    """(k mod 1024, b) of one finite number, from its exact value."""
    fraction, exponent = math.frexp(x)
    turns = int(fraction * 2**53) * _inverse_step_places()
    exponent -= 53
    turns = turns << exponent if exponent >= 0 else turns >> -exponent
    k = (turns + (1 << (_PLACES - 1))) >> _PLACES
    rest = turns - (k << _PLACES)
    return k % _STEPS, rest * constants.pi(_PLACES) / (_STEPS // 2 << 2 * _PLACES)


def _reduced(x: np.ndarray, rows: Rows, ahead: int) -> tuple[np.ndarray, np.ndarray]:
    """b, and (k + ahead) mod 1024 as int64, in the first two of five rows."""
    if x.min() >= -_LARGE and x.max() <= _LARGE:
        return _reduced_ordinary(x, rows, ahead)
    large = np.asarray(np.abs(x) > _LARGE)
    b, index = _reduced_ordinary(np.where(large, 0.0, x), rows, ahead)
    for place in np.flatnonzero(large).tolist():
        value = float(x[place])
        k, b[place] = _reduced_large(value) if math.isfinite(value) else (0, math.nan)
        index[place] = (k + ahead) % _STEPS
    return b, index


def _reduced_ordinary(x: np.ndarray, rows: Rows, ahead: int) -> tuple[np.ndarray, np.ndarray]:
    tables = _tables()
    b, shifted, k = rows[:3]
    np.multiply(x, tables.inverse_step, out=shifted)
    shifted += _MAGIC
    np.subtract(shifted, _MAGIC, out=k)
    index = shifted.view(np.int64)
    if ahead:
        index += ahead
    index &= _STEPS - 1
    # The two middle parts are added without error, as x may cancel all but their end.
    high, low = rows[3], rows[4]
    np.multiply(k, tables.parts[1], out=high)
    np.multiply(k, tables.parts[2], out=low)
    np.add(high, low, out=b)
    high -= b
    low += high
    np.multiply(k, tables.parts[3], out=high)
    low += high
    k *= tables.parts[0]
    np.subtract(x, k, out=k)
    np.subtract(k, b, out=b)
    b -= low
    return b, index


def _sine_of_sum(b: np.ndarray, index: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """sin(a + b) by the index of a. Uses 3 rows."""
    tables = _tables()
    square, part, table = rows[:3]
    np.multiply(b, b, out=square)
    np.multiply(square, 1 / 24, out=out)
    out -= 0.5
    out *= square  # cos(b) - 1
    np.multiply(square, 1 / 120, out=part)
    part -= 1 / 6
    part *= square
    part *= b
    part += b  # sin(b)
    np.take(tables.cosine, index, out=table, mode="wrap")
    part *= table
    np.take(tables.sine, index, out=table, mode="wrap")
    out *= table
    out += part
    np.take(tables.rest, index, out=part, mode="wrap")
    out += part
    out += table


def sin_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """sin(x), within 1.5 units. Uses 5 rows."""
    b, index = _reduced(x, rows, 0)
    _sine_of_sum(b, index, out, rows[2:])
    _keep_zeros(x, out)


def cos_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """cos(x), within 1.5 units. Uses 5 rows."""
    b, index = _reduced(x, rows, _QUARTER)
    _sine_of_sum(b, index, out, rows[2:])


def tan_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """sin(x) / cos(x), within 3 units. Uses 6 rows."""
    b, index = _reduced(x, rows, 0)
    _sine_of_sum(b, index, out, rows[2:])
    index += _QUARTER
    index &= _STEPS - 1
    cosine = rows[5]
    _sine_of_sum(b, index, cosine, rows[2:])
    out /= cosine
    _keep_zeros(x, out)


def _keep_zeros(x: np.ndarray, out: np.ndarray) -> None:
    zero = np.equal(x, 0.0)
    if zero.any():
        np.copyto(out, x, where=zero)
