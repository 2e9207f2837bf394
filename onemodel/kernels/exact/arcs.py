"""The inverse trigonometric functions, the same bits on every machine.

All are angles of a right triangle: atan(n / d) for 0 <= n <= d = atan(c) + atan(q), where
c = j / 64 is near n / d and q = (n - c d) / (d + c n), |q| < 2**-6.9. c d is exact, because
d comes in two parts, and n - c d nearly so. atan(q) is its Taylor polynomial of degree 7,
which omits less than q**9 / 9 < 2**-58 q. The other angles are complements and supplements,
found by tables of pi / 2 - atan(c), pi / 2 + atan(c) and pi - atan(c).
"""

from __future__ import annotations

import functools

import numpy as np

from onemodel.kernels.exact import constants
from onemodel.kernels.exact.blocks import Rows, series

Pair = tuple[np.ndarray, np.ndarray]
"""A number as the sum of two."""

_STEPS = 64
_MAGIC = 1.5 * 2.0**52
"""Added to a number below 2**51 it leaves the nearest integer in the low bits."""

_HEAD = -(1 << 27)
"""Leaves 26 bits of a significand, whose products with their like are exact."""

_FAR = 2.0**70
"""atan is pi / 2 to the last bit long before."""


@functools.cache
def _tables() -> tuple[np.ndarray, np.ndarray]:
    """The four angles of every c, 65 entries each: rounded, and what the rounding lost."""
    right = constants.pi() // 2
    angles = [constants.arctangent(j, _STEPS) for j in range(_STEPS + 1)]
    values = [
        *angles,
        *(right - angle for angle in angles),
        *(right + angle for angle in angles),
        *(2 * right - angle for angle in angles),
    ]
    pairs = [constants.pair(value) for value in values]
    table = constants.float_table
    return table([high for high, _ in pairs]), table([low for _, low in pairs])


def _head(x: np.ndarray) -> np.ndarray:
    return np.bitwise_and(x.view(np.int64), _HEAD).view(np.float64)


def _square(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x**2 and what its rounding lost (Dekker), for x whose square does not underflow."""
    high = _head(x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low


def _angle(
    n: tuple[np.ndarray, np.ndarray],
    d: tuple[np.ndarray, np.ndarray],
    kind: np.ndarray,
    out: np.ndarray,
) -> None:
    """atan(n / d) for 0 <= n <= d in two parts each, or another angle of it.

    ``kind``: 0 for the angle, 1 for pi / 2 less it, 2 for pi / 2 more, 3 for pi less it.
    """
    high, low = _tables()
    head = _head(d[0])
    tail = (d[0] - head) + d[1]
    shifted = n[0] / d[0] * _STEPS + _MAGIC
    c = (shifted - _MAGIC) * (1 / _STEPS)
    q = (n[0] - c * head) + (n[1] - c * tail)
    q /= d[0] + c * n[0]
    square = q * q
    tail = series(square, (-1 / 7, 1 / 5, -1 / 3))
    tail *= q
    tail += q
    np.negative(tail, out=tail, where=(kind & 1) == 1)
    index = (shifted.view(np.int64) & (2 * _STEPS - 1)) + kind * (_STEPS + 1)
    tail += np.take(low, index, mode="wrap")
    np.add(np.take(high, index, mode="wrap"), tail, out=out)


def _ordered(n: Pair, d: Pair, swap: np.ndarray) -> tuple[Pair, Pair]:
    smaller = np.where(swap, d[0], n[0]), np.where(swap, d[1], n[1])
    larger = np.where(swap, n[0], d[0]), np.where(swap, n[1], d[1])
    return smaller, larger


def atan_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """atan(x), within 1 unit."""
    size = np.minimum(np.abs(x), _FAR)
    none, one = np.zeros_like(x), np.ones_like(x)
    swap = np.asarray(size > 1.0)
    n, d = _ordered((size, none), (one, none), swap)
    _angle(n, d, swap.astype(np.int64), out)
    np.copysign(out, x, out=out)


def _legs(x: np.ndarray) -> tuple[Pair, Pair, np.ndarray]:
    """|x| and sqrt(1 - x**2), the smaller first, and where that is not |x|."""
    size = np.abs(x)
    leg = _other_leg(size)
    swap = np.asarray(size > leg[0])
    return *_ordered((size, np.zeros_like(x)), leg, swap), swap


def asin_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """asin(x) = atan(|x| / sqrt(1 - x**2)) with the sign of x, within 1 unit."""
    n, d, swap = _legs(x)
    _angle(n, d, swap.astype(np.int64), out)
    np.copysign(out, x, out=out)


def acos_core(x: np.ndarray, out: np.ndarray, rows: Rows) -> None:
    """acos(x) = atan(sqrt(1 - x**2) / |x|), from pi for a negative x, within 1 unit."""
    n, d, swap = _legs(x)
    kind = np.where(swap, np.where(x < 0, 3, 0), np.where(x < 0, 2, 1))
    _angle(n, d, kind, out)


def _other_leg(x: np.ndarray) -> Pair:
    """sqrt(1 - x**2) in two parts for 0 <= x <= 1; NaN beyond."""
    square, lost = _square(x)
    rest = 1.0 - square
    low = ((1.0 - rest) - square) - lost
    total = rest + low
    low = (rest - total) + low
    root = np.sqrt(total)
    square, lost = _square(root)
    correction = ((total - square) - lost + low) / (2.0 * root)
    return root, np.where(root > 0, correction, 0.0)
