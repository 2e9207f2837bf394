"""0, 1, ..., n - 1 in a graph, where n may be symbolic."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.extent import Extent, as_extent
from onemodel.symbolic.helpers import squeeze


def write_range(g: Any, start: Any, end: Any, step: Any) -> Any:
    """int64 numbers between two sizes; the same ones are written once."""
    extents = tuple(map(as_extent, (start, end, step)))
    return g.once(("range", extents), lambda: g.op("Range", *map(g.scalar, extents)))


def counting(g: Any, size: int | Extent) -> Any:
    """The int64 vector 0..size-1: a constant, Range (from 11), or the places of ones (from 9)."""
    extent = as_extent(size)
    if extent.is_static:
        return g.constant(np.arange(extent.value, dtype=np.int64))
    if g.opset >= 11:
        return write_range(g, 0, extent, 1)
    g.refuse_below(9, "counting along a symbolic axis")
    ones = g.op("ConstantOfShape", g.size(extent), value=np.ones(1, np.int64))
    return squeeze(g, g.op("NonZero", ones), [0])
