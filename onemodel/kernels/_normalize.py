"""Zero mean and unit variance per group of channels."""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import sum as exact_sum
from onemodel.kernels.exact.blocks import rounded_to


def normalized_groups(
    x: np.ndarray, groups: int, scale: np.ndarray, bias: np.ndarray, epsilon: float
) -> np.ndarray:
    """``x`` (N, C, D1..Dn) normalised per image and group, then scaled and shifted per channel.

    float16 and bfloat16 are computed in float32. The variance is that of the
    centred values, so a large mean costs no digits.

    Raises:
        ValueError: the channels do not divide into the groups.
    """
    batch, channels = x.shape[:2]
    if channels % groups:
        raise ValueError(f"{channels} channels do not divide into {groups} groups")
    rows = widen(x).reshape(batch * groups, -1) if x.size else widen(x)
    if not x.size:
        return x.copy()
    result = rows - row_means(rows)
    deviation = np.vecdot(result, result)[:, None]
    deviation /= rows.shape[1]
    deviation += epsilon
    np.sqrt(deviation, out=deviation)
    result *= np.reciprocal(deviation, out=deviation)
    result = result.reshape(x.shape)
    channel = (-1,) + (1,) * (x.ndim - 2)
    result *= widen(scale).reshape(channel)
    result += widen(bias).reshape(channel)
    return result.astype(x.dtype, copy=False)


def exact_groups(
    x: np.ndarray, groups: int, scale: np.ndarray, bias: np.ndarray, epsilon: float
) -> np.ndarray:
    """As :func:`normalized_groups`, in float64 and rounded once."""
    batch, channels = x.shape[:2]
    if channels % groups:
        raise ValueError(f"{channels} channels do not divide into {groups} groups")
    if not x.size:
        return x.copy()
    rows = exact_sum.wide(x).reshape(batch * groups, -1)
    result = exact_rows(rows, epsilon)[0].reshape(x.shape)
    channel = (-1,) + (1,) * (x.ndim - 2)
    result *= exact_sum.wide(scale).reshape(channel)
    result += exact_sum.wide(bias).reshape(channel)
    return rounded_to(result, x.dtype)


def exact_rows(rows: np.ndarray, epsilon: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Normalised float64 rows, their means and the reciprocals of their deviations."""
    mean = exact_sum.mean(rows, (1,), keepdims=True)
    centred = rows - mean
    variance = exact_sum.mean(np.square(centred), (1,), keepdims=True)
    inverse = np.reciprocal(np.sqrt(variance + epsilon))
    centred *= inverse
    return centred, mean, inverse


def row_means(rows: np.ndarray) -> np.ndarray:
    """Means of the rows of a matrix, as a column; a product with ones is the fastest sum."""
    total = np.matmul(rows, np.ones((rows.shape[1], 1), rows.dtype))
    total /= rows.shape[1]
    return total
