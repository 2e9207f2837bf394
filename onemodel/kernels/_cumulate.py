"""Running sums and products, inclusive or exclusive, from either end."""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import widen


def cumulate(
    operation: np.ufunc, x: np.ndarray, axis: np.ndarray, exclusive: int, reverse: int
) -> np.ndarray:
    """``operation`` accumulated along ``axis`` in the dtype of ``x``."""
    where = int(np.asarray(axis).item())
    wide = np.moveaxis(widen(x), where, 0)
    if reverse:
        wide = wide[::-1]
    result = np.empty_like(wide)
    if exclusive:
        result[:1] = operation.identity
        operation.accumulate(wide[:-1], axis=0, dtype=wide.dtype, out=result[1:])
    else:
        operation.accumulate(wide, axis=0, dtype=wide.dtype, out=result)
    if reverse:
        result = result[::-1]
    return np.moveaxis(result, 0, where).astype(x.dtype, copy=False)
