"""Choosing between two arrays under a mask, faster than ``np.where`` where that is slow."""

from __future__ import annotations

import numpy as np

_LARGE = 4096
"""Elements below which the time per call decides."""

_BITS = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def select(
    condition: np.ndarray, x: np.ndarray | np.generic, y: np.ndarray | np.generic
) -> np.ndarray:
    """``x`` where the condition holds, else ``y``, with broadcasting; equal dtypes.

    ``np.where`` decides element by element, which costs a mispredicted branch at
    every change of an irregular mask. On large arrays the bits are combined instead;
    the result is the same to the bit.
    """
    if condition.size < _LARGE or x.dtype != y.dtype or x.dtype.itemsize not in _BITS:
        return np.where(condition, x, y)
    if x.dtype.kind not in "fiub":
        return np.where(condition, x, y)
    bits = _BITS[x.dtype.itemsize]
    mask = np.negative(condition.view(np.int8)).astype(bits, copy=False)
    first, second = np.asarray(x).view(bits), np.asarray(y).view(bits)
    result = np.asarray(np.bitwise_xor(first, second))
    result = np.bitwise_and(result, mask, out=result if result.shape == mask.shape else None)
    if result.shape == np.broadcast_shapes(result.shape, second.shape):
        result ^= second
    else:
        result = np.bitwise_xor(result, second)
    return result.view(x.dtype)
