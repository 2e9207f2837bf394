"""The exponential and what is made of it, the same bits on every machine.

exp(x) = 2**(k / 512) exp(r) with k the integer nearest to 512 x / log(2), hence
|r| <= log(2) / 1024 < 2**-10.5. 2**(j / 512) for the low nine bits j of k comes from a table,
the rest of k is an exponent. exp(r) - 1 is its Taylor polynomial of degree 4, which omits
less than 1.001 r**5 / 120 < 2**-59; expm1, which needs an error small beside r, takes one
term more and omits less than 2**-61 r. What is left are the roundings of the last few
operations; the bounds stated below are measured, in the tests.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from onemodel.kernels.exact import constants
from onemodel.kernels.exact.blocks import Rows, power_of_two, series

_STEPS = 512
_INDEX_BITS = 9
_SHIFT_TO_EXPONENT = 52 - _INDEX_BITS
"""Shifts k so that k / 512 rounded down stands where float64 keeps its exponent."""

_MAGIC = 1.5 * 2.0**52
"""Added to a number below 2**51 it leaves the nearest integer in the low bits."""

_LOWEST, _HIGHEST = -600.0, 650.0
"""Between these no step comes near overflow or underflow."""


@dataclass(frozen=True)
class _Tables:
    """Constants of the reduction, and 2**(j / 512)."""

    inverse_step: float
    step_high: float
    """log(2) / 512 cut off at 2**-42: its product with an integer below 2**20 is exact."""
    step_low: float
    bits: np.ndarray
    """The bits of 2**(j / 512) less j shifted like k, so that adding k's shift is enough."""
    value: np.ndarray
    rest: np.ndarray
    """What the rounding of ``value`` lost, as a fraction of it."""


@functools.cache
def _tables() -> _Tables:
    powers = constants.powers_of_two(_STEPS)
    value = constants.float_table([constants.rounded(power) for power in powers])
    rest = [low / high for high, low in map(constants.pair, powers)]
    bits = value.view(np.int64) - (np.arange(_STEPS) << _SHIFT_TO_EXPONENT)
    bits.setflags(write=False)
    step_high, step_low = constants.parts(constants.ln2() // _STEPS, [42])
    inverse = constants.rounded(_STEPS * constants.ONE * constants.ONE // constants.ln2())
    return _Tables(inverse, step_high, step_low, bits, value, constants.float_table(rest))


def _ordinary(x: np.ndarray) -> bool:
    """Whether the whole block lies where nothing overflows; False for a NaN."""
    return bool(x.min() >= _LOWEST and x.max() <= _HIGHEST)


def _reduced(
    x: np.ndarray, low: np.ndarray | None, rows: Rows, terms: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``(p, k, j)``: exp(r) - 1, k in the low bits of an integer, and its low nine bits.

    ``terms``: the Taylor coefficients from r**2 on, highest first. Uses four rows.
    """
    tables = _tables()
    shifted, k, r, p = rows[:4]
    np.multiply(x, tables.inverse_step, out=shifted)
    shifted += _MAGIC
    np.subtract(shifted, _MAGIC, out=k)
    np.multiply(k, tables.step_high, out=r)
    np.subtract(x, r, out=r)
    k *= tables.step_low
    r -= k
    if low is not None:
        r += low
    series(r, terms, out=p)
    p *= r
    p += r
    integer, index = shifted.view(np.int64), k.view(np.int64)
    np.bitwise_and(integer, _STEPS - 1, out=index)
    if low is not None:
        np.take(tables.rest, index, out=r, mode="wrap")
        p += r
    return p, integer, index


_EXP_TERMS = (1 / 24, 1 / 6, 1 / 2)
_EXPM1_TERMS = (1 / 120, *_EXP_TERMS)


def exp_core(x: np.ndarray, out: np.ndarray, rows: Rows, low: np.ndarray | None = None) -> None:
    """exp(x) within 1 unit in the last place, or exp(x + low) within 0.51, |low| < 2**-40.

    Overflows to infinity and underflows gradually, rounding once. Uses 5 rows.
    """
    if _ordinary(x):
        p, k, j = _reduced(x, low, rows, _EXP_TERMS)
        _scale_bits(k, j, out, rows[2])
        p *= out
        out += p
    else:
        exp_scaled(x, out, rows, low)


def _scale_bits(k: np.ndarray, j: np.ndarray, out: np.ndarray, row: np.ndarray) -> None:
    """2**(k / 512) into ``out``; k is overwritten."""
    bits, base = out.view(np.int64), row.view(np.int64)
    np.take(_tables().bits, j, out=base, mode="wrap")
    np.left_shift(k, _SHIFT_TO_EXPONENT, out=bits)
    bits += base


def exp_scaled(
    x: np.ndarray,
    out: np.ndarray,
    rows: Rows,
    low: np.ndarray | None = None,
    halvings: int = 0,
) -> None:
    """exp(x + low) / 2**halvings for any x. Uses 5 rows.

    The same significand as the short way's, then scaled by two powers of two: the first
    product is exact, and only the second rounds, if the result is subnormal.
    """
    clipped = rows[4]
    np.minimum(x, 715.0, out=clipped)
    np.maximum(clipped, -750.0, out=clipped)
    p, k, j = _reduced(clipped, low, rows, _EXP_TERMS)
    np.take(_tables().value, j, out=out, mode="wrap")
    p *= out
    out += p
    exponent, part, factor = rows[4].view(np.int64), rows[1].view(np.int64), rows[2]
    magic = np.array(_MAGIC).view(np.int64)
    np.subtract(k, magic, out=exponent)
    np.right_shift(exponent, _INDEX_BITS, out=exponent)
    exponent -= halvings
    np.right_shift(exponent, 1, out=part)
    exponent -= part
    for half in (part, exponent):
        power_of_two(half, factor)
        out *= factor


def expm1_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """exp(x) - 1, within 1.5 units in the last place, also near zero. Uses 6 rows."""
    expm1_unsigned(x, out, rows)
    np.copysign(out, x, out=out)  # x and the result are zero together, and -0 is kept


def expm1_unsigned(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """The same but for the sign of a zero, for cores that set it themselves. Uses 6 rows.

    (s - 1) + s p with s = 2**(k / 512) in two parts: s - 1 is exact where it cancels.
    """
    if _ordinary(x):
        _expm1_ordinary(x, out, rows)
        return
    clipped = rows[5]
    np.minimum(x, _HIGHEST, out=clipped)
    np.maximum(clipped, -100.0, out=clipped)
    _expm1_ordinary(clipped, out, rows)
    large = np.greater(x, _HIGHEST)
    if large.any():  # there the one is long lost
        exp_scaled(x, rows[5], rows)
        np.copyto(out, rows[5], where=large)


def _expm1_ordinary(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    p, k, j = _reduced(x, None, rows, _EXPM1_TERMS)
    scale, rest = rows[4], rows[2]
    np.take(_tables().rest, j, out=rest, mode="wrap")
    p += rest
    _scale_bits(k, j, scale, rest)
    p *= scale
    np.subtract(scale, 1.0, out=out)
    out += p


def tanh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """tanh(x) = -e / (2 + e) with e = expm1(-2 |x|); within 3.5 units. Uses 7 rows."""
    t = rows[6]
    np.abs(x, out=t)
    t *= -2.0
    expm1_unsigned(t, out, rows)
    np.add(out, 2.0, out=t)
    out /= t
    np.copysign(out, x, out=out)


def sigmoid_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """1 / (1 + exp(-x)); exp(x) where the one is lost; within 2.5 units. Uses 7 rows."""
    t = rows[5]
    np.negative(x, out=t)
    exp_core(t, out, rows)
    out += 1.0
    np.divide(1.0, out, out=out)
    if not x.min() >= _LOWEST:
        exp_scaled(x, rows[6], rows)
        np.copyto(out, rows[6], where=np.less(x, _LOWEST))


def sinh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """(e + e / (e + 1)) / 2 with e = expm1(|x|); within 2.5 units. Uses 8 rows."""
    size, t = rows[6], rows[7]
    np.abs(x, out=size)
    expm1_unsigned(size, out, rows)
    np.add(out, 1.0, out=t)
    np.divide(out, t, out=t)
    out += t
    out *= 0.5
    if not size.max() <= 40.0:
        exp_scaled(size, t, rows, halvings=1)
        np.copyto(out, t, where=np.greater(size, 40.0))
    np.copysign(out, x, out=out)


def cosh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """z + 1 / (4 z) with z = exp(|x|) / 2; within 2 units. Uses 7 rows."""
    size = rows[6]
    np.abs(x, out=size)
    exp_scaled(size, out, rows, halvings=1)
    np.multiply(out, 4.0, out=size)
    np.divide(1.0, size, out=size)
    out += size
