"""Correctly rounded cross-correlation: each output is the exact sum of its window, rounded once.

Zeros of the padding are products like all others, so the result depends on the window alone
and not on how windows were gathered.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
    # As many images as fit, or else a part of one.
    most = max(1, _COLUMN_BYTES // (channels * math.prod(view.kernel) * 8))
    images = max(1, most // math.prod(view.output))
    for first in range(0, batch, images):
        part = source[first : first + images]
        for box in _boxes(view.output, most):
            columns = _columns(part, view, box)
            sizes = [place.stop - place.start for place in box]
            flat = columns.reshape(len(part), group, inner, math.prod(sizes))
            block = product(weights, flat, x.dtype).reshape(len(part), outputs, *sizes)
            result[(slice(first, first + images), slice(None), *box)] = block
    return result


def _boxes(sizes: Sequence[int], most: int) -> Iterator[tuple[slice, ...]]:
    """Cut positions along ``sizes`` into boxes of at most ``most``, the first axis first."""
    if not sizes:
        yield ()
        return
    step = max(1, most // math.prod(sizes[1:]))
    for start in range(0, sizes[0], step):
        for rest in _boxes(sizes[1:], most):
            yield (slice(start, min(start + step, sizes[0])), *rest)


def _columns(source: np.ndarray, view: Window, box: tuple[slice, ...]) -> np.ndarray:
    """float64 windows of the positions in ``box``."""
    some = replace(view, output=tuple(place.stop - place.start for place in box))
    begins = [place.start * stride for place, stride in zip(box, view.strides, strict=True)]
    shifted = source[(..., *(slice(begin, None) for begin in begins))]
    lead = source.shape[:2]
    columns = np.empty((*lead, *view.kernel, *some.output))
    for offset in view.offsets():
        columns[(slice(None), slice(None), *offset)] = shifted[(..., *some.slices(offset))]
    return columns
