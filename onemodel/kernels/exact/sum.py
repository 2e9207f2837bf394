"""Sums and products along axes in a fixed tree, so that no machine's order of adding shows.

The elements of an axis are halved again and again: the first half is added to the second,
element by element. float16, bfloat16 and float32 are added in float64, and whoever asks
rounds once at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

Axes = Sequence[int] | None


def wide(x: np.ndarray) -> np.ndarray:
    """A float array as float64 (exact), integers untouched."""
    return x.astype(np.float64, copy=False) if x.dtype.kind not in "iub" else x


def total(x: np.ndarray, axes: Axes = None, keepdims: bool = False) -> np.ndarray:
    """Sums over ``axes`` (None: all), float64 for floats, the dtype's own sum for integers."""
    if x.dtype.kind in "iub":
        return np.asarray(np.sum(x, axis=_tuple(axes), keepdims=keepdims, dtype=x.dtype))
    return _tree(np.add, wide(x), axes, keepdims, 0.0)


def mean(x: np.ndarray, axes: Axes = None, keepdims: bool = False) -> np.ndarray:
    """Means over ``axes`` (None: all) in float64."""
    count = math.prod(x.shape[axis] for axis in _normal(axes, x.ndim))
    return np.asarray(np.divide(total(x.astype(np.float64), axes, keepdims), count))


def multiplied(x: np.ndarray, axes: Axes = None, keepdims: bool = False) -> np.ndarray:
    """Products over ``axes`` (None: all), float64 for floats, the dtype's own for integers."""
    if x.dtype.kind in "iub":
        return np.asarray(np.prod(x, axis=_tuple(axes), keepdims=keepdims, dtype=x.dtype))
    return _tree(np.multiply, wide(x), axes, keepdims, 1.0)


def _tuple(axes: Axes) -> tuple[int, ...] | None:
    return None if axes is None else tuple(axes)


def _normal(axes: Axes, rank: int) -> list[int]:
    """Axes counted from the front, in order; NumPy's own errors for those that are not there."""
    return sorted(normalize_axis_tuple(range(rank) if axes is None else tuple(axes), rank))


def _tree(
    combine: Callable[..., np.ndarray], x: np.ndarray, axes: Axes, keepdims: bool, neutral: float
) -> np.ndarray:
    chosen = _normal(axes, x.ndim)
    kept = [axis for axis in range(x.ndim) if axis not in chosen]
    shape = tuple(1 if axis in chosen else size for axis, size in enumerate(x.shape))
    final = shape if keepdims else tuple(x.shape[axis] for axis in kept)
    if len(chosen) == 1:
        lead, trail = math.prod(x.shape[: chosen[0]]), math.prod(x.shape[chosen[0] + 1 :])
        rows = x.reshape(lead, x.shape[chosen[0]], trail)
    else:
        order = x.transpose(*kept, *chosen)
        rows = order.reshape(math.prod(final), math.prod(x.shape[axis] for axis in chosen), 1)
    if not rows.shape[1]:
        return np.full(final, neutral)
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        paired = combine(rows[:, :half], rows[:, half : 2 * half])
        if rows.shape[1] % 2:
            paired[:, 0] = combine(paired[:, 0], rows[:, -1])
        rows = paired
    return np.array(rows.reshape(final))
