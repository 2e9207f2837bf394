"""The logarithm and what is made of it, the same bits on every machine.

x = 2**k m with m between 0.705 and 1.411, whose first seven bits choose a short c near 1 / m;
log(x) = k log(2) - log(c) + log(1 + r) with r = m c - 1, computed without error. |r| < 2**-7.9,
log(1 + r) is its Taylor polynomial of degree 7 and omits less than 2**-58 r. For the m around
1 c is 1, so that log is accurate relative to itself there too.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from onemodel.kernels.exact import constants
from onemodel.kernels.exact.blocks import Rows, positive_part, power_of_two, series
from onemodel.kernels.exact.exp import exp_core

_INDEX_BITS = 7
_STEP = 1 << (52 - _INDEX_BITS)
_FIRST = 0x3FF0000000000000 - 75 * _STEP - _STEP // 2
"""The bits of the lowest m, 0.705; half a step after a boundary lies 1."""

_HEAD = -(1 << 20)
"""Cuts a significand off at 33 bits; the other 20 have exact products with c as well."""

_C_BITS = 12

_TERMS = tuple((-1) ** (n + 1) / n for n in range(7, 1, -1))
"""Of log(1 + r), from r**7 down to r**2."""

_SMALLEST_NORMAL = 2.0**-1022


@dataclass(frozen=True)
class Tables:
    """c, and -log(c) in two parts, by the leading bits of m; log(2) in two parts.

    The high parts are multiples of 2**-40, so that k log(2) - log(c) has an exact high part.
    """

    c: np.ndarray
    high: np.ndarray
    low: np.ndarray
    ln2_high: float
    ln2_low: float


@functools.cache
def tables() -> Tables:
    steps = np.arange(1 << _INDEX_BITS, dtype=np.int64) * _STEP + _FIRST
    middles = (steps + _STEP // 2).view(np.float64)
    found, high, low = [], [], []
    for middle in middles.tolist():
        c = round((1 << _C_BITS) / middle)
        value = -constants.log(c, 1 << _C_BITS)
        sign = 1 if value >= 0 else -1
        parts = constants.parts(abs(value), [40])
        found.append(c / (1 << _C_BITS))
        high.append(sign * parts[0])
        low.append(sign * parts[1])
    ln2_high, ln2_low = constants.parts(constants.ln2(), [40])
    table = constants.float_table
    return Tables(table(found), table(high), table(low), ln2_high, ln2_low)


def log_core(x: np.ndarray, out: np.ndarray, rows: Rows, low: np.ndarray | None = None) -> None:
    """log(x), or log(x + low) with low below half a unit of x; within 1 unit. Uses 6 rows.

    -inf at zero, NaN below, whatever ``low`` is.
    """
    if x.min() >= _SMALLEST_NORMAL and x.max() < np.inf:
        _log_normal(x, out, rows, low, 0)
        return
    scaled = rows[5]
    small = np.less(x, _SMALLEST_NORMAL)
    np.copyto(scaled, x)
    scaled[small] *= 2.0**54
    np.copyto(scaled, 1.0, where=~((x > 0) & (x < np.inf)))
    _log_normal(scaled, out, rows, low, np.where(small, 54, 0))
    np.copyto(out, -np.inf, where=x == 0)
    np.copyto(out, np.inf, where=x == np.inf)
    np.copyto(out, np.nan, where=~(x >= 0))


def _log_normal(
    x: np.ndarray, out: np.ndarray, rows: Rows, low: np.ndarray | None, shift: np.ndarray | int
) -> None:
    """log((x + low) / 2**shift) of positive normal x; a shifted x has no low part."""
    known = tables()
    r, c, table, t, k = rows[:5]
    bits, exponent, index = c.view(np.int64), k.view(np.int64), t.view(np.int64)
    np.subtract(x.view(np.int64), _FIRST, out=bits)
    np.right_shift(bits, 52, out=exponent)
    np.bitwise_and(bits, (1 << 52) - 1, out=index)
    index >>= 52 - _INDEX_BITS
    np.take(known.high, index, out=out, mode="wrap")
    np.take(known.low, index, out=table, mode="wrap")
    np.take(known.c, index, out=c, mode="wrap")
    # r = (head c - 1) + (tail c + low c): two exact products, an exact difference.
    np.left_shift(exponent, 52, out=t.view(np.int64))
    np.subtract(x.view(np.int64), t.view(np.int64), out=r.view(np.int64))
    np.bitwise_and(r.view(np.int64), _HEAD, out=t.view(np.int64))
    r -= t
    t *= c
    r *= c
    t -= 1.0
    r += t
    if low is not None:
        np.negative(exponent, out=t.view(np.int64))
        power_of_two(t.view(np.int64), t)
        t *= low
        t *= c
        r += t
    exponent -= shift
    k[...] = exponent
    # (k log(2) - log(c)) + (r + (r**2 q + low parts))
    np.multiply(k, known.ln2_high, out=t)
    out += t
    k *= known.ln2_low
    table += k
    series(r, _TERMS, out=t)
    t *= r
    t += table
    t += r
    out += t


def reduced(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """``(k, index of c, head, tail)`` of positive finite x = 2**k (head + tail)."""
    small = x < _SMALLEST_NORMAL
    normal = np.where(small, x * 2.0**54, x)
    bits = normal.view(np.int64) - _FIRST
    exponent = bits >> 52
    index = (bits & ((1 << 52) - 1)) >> (52 - _INDEX_BITS)
    bits = normal.view(np.int64) - (exponent << 52)
    head = np.bitwise_and(bits, _HEAD).view(np.float64)
    return (exponent - 54 * small).astype(np.float64), index, head, bits.view(np.float64) - head


def log1p_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """log(1 + x), within 1.5 units, also near zero and of a subnormal. Uses 9 rows.

    The sum is kept as what it rounds to and the rest, exactly.
    """
    total, rest, t = rows[6], rows[7], rows[8]
    np.add(x, 1.0, out=total)
    # Knuth's sum without a condition on which is larger.
    np.subtract(total, 1.0, out=rest)
    np.subtract(total, rest, out=t)
    np.subtract(x, rest, out=rest)
    np.subtract(1.0, t, out=t)
    rest += t
    np.copyto(rest, 0.0, where=~(np.abs(x) < np.inf))
    log_core(total, out, rows, rest)
    np.copysign(out, x, out=out)  # log(1 + x) and x have one sign, and -0 is kept


def softplus_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)); within 2 units. Uses 11 rows."""
    e, t = rows[9], rows[10]
    np.copysign(x, -1.0, out=t)
    exp_core(t, e, rows)
    log1p_core(e, out, rows)
    positive_part(x, t)
    out += t


def asinh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """log1p(|x| + x**2 / (1 + sqrt(1 + x**2))); within 2 units. Uses 11 rows.

    From 2**28 on log(|x|) + log(2), as log(x**2 + ...) / 2 would overflow.
    """
    size, t = rows[9], rows[10]
    np.abs(x, out=size)
    np.multiply(size, size, out=out)
    np.add(out, 1.0, out=t)
    np.sqrt(t, out=t)
    t += 1.0
    np.divide(out, t, out=t)
    t += size
    log1p_core(t, out, rows)
    _for_large(np.abs(x, out=size), out, rows)
    np.copysign(out, x, out=out)


def acosh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """log1p(t + sqrt(t (t + 2))) with t = x - 1; within 3 units. Uses 11 rows."""
    t, root = rows[10], rows[9]
    np.subtract(x, 1.0, out=t)
    np.add(t, 2.0, out=root)
    root *= t
    np.sqrt(root, out=root)
    t += root
    log1p_core(t, out, rows)
    _for_large(x, out, rows)
    np.abs(out, out=out)
    below = np.less(x, 1.0)  # far below, t and root cancel to -1
    if below.any():
        np.copyto(out, np.nan, where=below)


def _for_large(size: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """Overwrites ``out`` with log(2 size) where ``size`` is above 2**28."""
    large = np.greater(size, 2.0**28)
    if large.any():
        value = rows[6]
        log_core(size, value, rows)
        value += constants.rounded(constants.ln2())
        np.copyto(out, value, where=large)


def atanh_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """log1p(2 |x| / (1 - |x|)) / 2; within 2 units. Uses 11 rows."""
    size, t = rows[10], rows[9]
    np.abs(x, out=size)
    np.subtract(1.0, size, out=t)
    size += size
    size /= t
    log1p_core(size, out, rows)
    out *= 0.5
    np.copyto(out, np.nan, where=np.greater(np.abs(x, out=t), 1.0))
    np.copysign(out, x, out=out)
