"""Powers with the same bits on every machine: exp(y log(x)) with a logarithm of 68 bits.

The reduction is that of ``log.py``; its remainder r, the two largest terms of the sum
k log(2) - log(c) + r - r**2 / 2 + r**3 (1 / 3 - ...) and the product with y are carried in
two parts each. The Taylor polynomial has degree 9 and omits less than 2**-74 r.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from onemodel.kernels.exact.blocks import Rows, series
from onemodel.kernels.exact.exp import exp_core
from onemodel.kernels.exact.log import reduced, tables

Pair = tuple[np.ndarray, np.ndarray]

_HEAD = -(1 << 27)
"""Leaves 26 bits of a significand, whose products with their like are exact."""

_TERMS = tuple((-1) ** (n + 1) / n for n in range(9, 2, -1))
"""Of log(1 + r), from r**9 down to r**3."""

_MOST = 2.0**70
"""A larger exponent of anything but 1 overflows or underflows already."""

_SHORT: dict[float, Callable[[np.ndarray], np.ndarray]] = {
    1.0: lambda x: x,
    2.0: lambda x: x * x,
    3.0: lambda x: x * x * x,
    -1.0: lambda x: 1.0 / x,
    0.5: lambda x: np.where(x == -np.inf, np.inf, np.sqrt(x) + 0.0),
}
"""Exponents with a way of one or two roundings, which is also what users write."""


def short_core(x: np.ndarray, out: np.ndarray, rows: Rows, exponent: float) -> None:
    """x**exponent for one of the short exponents: the very result of ``pow_core``."""
    out[...] = _SHORT[exponent](x)


def is_short(exponent: float) -> bool:
    """Whether ``short_core`` knows this exponent."""
    return exponent in _SHORT


def pow_core(x: np.ndarray, y: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """x**y with all special cases of IEEE 754's pow; within 0.51 units. Uses 5 rows."""
    size = np.abs(x)
    proper = (size > 0) & (size < np.inf)
    high, low = _log_pair(np.where(proper, size, 1.0))
    exponent = np.minimum(np.maximum(y, -_MOST), _MOST)
    high, low = _product(exponent, high, low)
    low[~(np.abs(high) < 800.0)] = 0.0  # the result is 0 or infinite, whatever is lost
    exp_core(high, out, rows, low)
    if not proper.all():
        grows = (y > 0) == (size > 1)
        np.copyto(out, np.where(grows, np.inf, 0.0), where=~proper & (size == size))
    whole = y == np.rint(y)
    half = y * 0.5
    odd = whole & (half != np.rint(half))
    np.negative(out, out=out, where=np.signbit(x) & odd)
    for short, function in _SHORT.items():
        where = y == short
        if where.any():
            np.copyto(out, function(x), where=where)
    np.copyto(out, np.nan, where=(x < 0) & (x > -np.inf) & ~whole)
    np.copyto(out, np.nan, where=(x != x) | (y != y))
    np.copyto(out, 1.0, where=(y == 0) | (x == 1))


def _log_pair(x: np.ndarray) -> Pair:
    """log(x) of positive finite numbers as a sum of two parts, to about 68 bits."""
    k, index, head, tail = reduced(x)
    table = tables()
    c = np.take(table.c, index, mode="wrap")
    r, lost = _fast_sum(head * c - 1.0, tail * c)
    square, square_lost = _two_parts(r, r)
    higher = series(r, _TERMS)
    higher *= square
    base = k * table.ln2_high + np.take(table.high, index, mode="wrap")
    small = k * table.ln2_low + np.take(table.low, index, mode="wrap")
    total, rest = _sum(base, r)
    total, more = _fast_sum(total, -0.5 * square)
    small += lost - (r * lost + 0.5 * square_lost)
    small += higher
    return _fast_sum(total, small + (rest + more))


def _product(y: np.ndarray, high: np.ndarray, low: np.ndarray) -> Pair:
    product, lost = _two_parts(y, high)
    return product, lost + y * low


def _two_parts(a: np.ndarray, b: np.ndarray) -> Pair:
    """a b as what it rounds to and the rest (Dekker), the last bit of which may be lost."""
    product = a * b
    a_head = np.bitwise_and(a.view(np.int64), _HEAD).view(np.float64)
    b_head = np.bitwise_and(b.view(np.int64), _HEAD).view(np.float64)
    a_tail, b_tail = a - a_head, b - b_head
    rest = ((a_head * b_head - product) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail
    return product, rest


def _fast_sum(a: np.ndarray, b: np.ndarray) -> Pair:
    """a + b without error where |a| >= |b|, or where the sum is exact (Dekker)."""
    total = a + b
    return total, b - (total - a)


def _sum(a: np.ndarray, b: np.ndarray) -> Pair:
    """a + b without error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
