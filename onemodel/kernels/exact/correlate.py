"""Correctly rounded cross-correlation: each output is the exact sum of its window, rounded once.

Zeros of the padding are products like all others, so the result depends on the window alone
and not on how windows were gathered.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from onemodel.kernels._windows import Window, padded
from onemodel.kernels.exact.product import product

_COLUMN_BYTES = 16 << 20
"""Windows that are copied out at once."""


def correlate(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    """(N, C, D1..Dn) with (M, C/group, k1..kn) over the windows of ``view``: (N, M, O1..On).

    float64 is summed in the order of the weights' elements.
    """
    batch, channels = x.shape[:2]
    outputs, inner = w.shape[0], math.prod(w.shape[1:])
    result = np.empty((batch, outputs, *view.output), x.dtype)
    if not result.size:
        return result
    if not inner:
        result[...] = 0
        return result
    weights = w.reshape(group, outputs // group, inner).astype(np.float64)
    source = padded(x, view, work=True)
    # As many images as fit, or else some of the rows of one image.
    row = math.prod(view.output[1:])
    row_bytes = max(1, channels * math.prod(view.kernel) * row * 8)
    rows = min(view.output[0], max(1, _COLUMN_BYTES // row_bytes))
    images = max(1, _COLUMN_BYTES // (row_bytes * rows)) if rows == view.output[0] else 1
    for first in range(0, batch, images):
        part = source[first : first + images]
        for start in range(0, view.output[0], rows):
            stop = min(start + rows, view.output[0])
            columns = _columns(part, view, start, stop)
            count = len(part)
            block = product(
                weights, columns.reshape(count, group, inner, (stop - start) * row), x.dtype
            )
            shape = (count, outputs, stop - start, *view.output[1:])
            result[first : first + images, :, start:stop] = block.reshape(shape)
    return result


def _columns(source: np.ndarray, view: Window, start: int, stop: int) -> np.ndarray:
    """float64 windows of the positions ``start`` to ``stop`` of the first spatial axis."""
    some = replace(view, output=(stop - start, *view.output[1:]))
    if set(view.kernel) == {1} and set(view.strides) == {1}:
        rows = source[:, :, start:stop][(Ellipsis, *some.slices((0,) * len(view.kernel)))]
        return np.ascontiguousarray(rows, np.float64)
    lead = source.shape[:2]
    columns = np.empty((*lead, *view.kernel, *some.output))
    shifted = source[:, :, start * view.strides[0] :]
    for offset in view.offsets():
        columns[(slice(None), slice(None), *offset)] = shifted[(Ellipsis, *some.slices(offset))]
    return columns
