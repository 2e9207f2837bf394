"""Nearest neighbours along symbolic axes: the elements that eager picks, at every size.

Eager multiplies by how many inputs one output stands for, Resize divides by the inverse. Both
round in float32, and where the product is whole they may come out one element apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from onemodel.axes.extent import Extent, as_extent
from onemodel.operators import _resample
from onemodel.operators._resample import Axis

_LONGEST = 1 << 16
"""Up to this length a factor is tried."""


def resize_agrees(g: Any, input: Any, factors: Sequence[float] | None, mode: str) -> bool:
    """Whether Resize picks eager's elements along every axis, whatever its size."""
    lengths = [as_extent(n) for n in input.shape[2:]]
    for place, (length, output) in enumerate(zip(lengths, g.result_axes[0][2:], strict=True)):
        factor = _ratio(length, output) if factors is None else factors[place]
        if factor is None or not _factor_agrees(factor, mode):
            return False
    return True


def _ratio(length: Extent, output: Extent) -> float | None:
    """How often ``length`` stands in ``output`` at every size; None where that depends on it."""
    if length.atoms != output.atoms or length.coefficient == 0:
        return None
    return float(Fraction(output.coefficient, length.coefficient))


@lru_cache
def _factor_agrees(factor: float, mode: str) -> bool:
    if 1 < factor < 1.5:
        return False  # ONNX Runtime copies where a size stays as it is: 3 * 1.25 is rounded to 3
    scale, step = np.float32(factor), np.float32(1 / factor)
    out = np.arange(_LONGEST, dtype=np.float32)
    if mode == "nearest":
        return np.array_equal(np.floor(out / scale), np.floor(out * step))
    half = np.float32(0.5)
    out += half
    return np.array_equal(np.floor(out / scale - half + half), np.floor(out * step))


def write_gathers(g: Any, input: Any, factors: Sequence[float] | None, mode: str) -> Any:
    """One Gather per axis, of indices computed from the sizes (opset 11)."""
    result = input
    lengths = [as_extent(n) for n in input.shape[2:]]
    for place, (length, output) in enumerate(zip(lengths, g.result_axes[0][2:], strict=True)):
        if length == output and (factors is None or factors[place] == 1):
            continue
        factor = None if factors is None else factors[place]
        if length.is_static and output.is_static:
            step = length.value / output.value if factor is None else 1 / factor
            axis = Axis(length.value, output.value, step)
            index = g.constant(_resample.nearest(axis, mode))
        else:
            index = _index(g, length, output, factor, mode)
        result = g.op("Gather", result, index, axis=place + 2)
    return result if result is not input else g.op("Identity", input)


def _index(g: Any, length: Extent, output: Extent, factor: float | None, mode: str) -> Any:
    """The nodes of :func:`onemodel.operators._resample.nearest`."""
    size = g.cast(g.scalar(length), np.float32)
    if factor is None:
        step = g.op("Div", size, g.cast(g.scalar(output), np.float32))
    else:
        step = g.constant(np.asarray(1 / factor, np.float32))
    zero, one = (g.constant(np.asarray(number, np.int64)) for number in (0, 1))
    out = g.cast(g.op("Range", zero, g.scalar(output), one), np.float32)
    if mode == "nearest-exact":
        out = g.op("Add", out, g.constant(np.asarray(0.5, np.float32)))
    last = g.op("Sub", size, g.constant(np.asarray(1, np.float32)))
    return g.cast(g.op("Min", g.op("Floor", g.op("Mul", out, step)), last), np.int64)
