"""Running sums and products, inclusive or exclusive, from either end."""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import widen


def cumulate(
    operation: np.ufunc, x: np.ndarray, axis: np.ndarray | int, exclusive: int, reverse: int
) -> np.ndarray:
    """``operation`` accumulated along ``axis`` in the dtype of ``x``."""
    where = axis if type(axis) is int else int(np.asarray(axis).item())
    wide = np.flip(widen(x), where) if reverse else widen(x)
    if exclusive:
        result = np.empty_like(wide)
        lines, sums = np.moveaxis(wide, where, 0), np.moveaxis(result, where, 0)
        sums[:1] = operation.identity
        operation.accumulate(lines[:-1], axis=0, dtype=wide.dtype, out=sums[1:])
    else:
        result = operation.accumulate(wide, where, wide.dtype)
    if reverse:
        result = np.flip(result, where)
    return result if wide.dtype is x.dtype else result.astype(x.dtype)
