"""Symbolic axes as they are declared: names by axis, for the size or for a part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from onemodel.axes.extent import Axes, Extent, static_axes

if TYPE_CHECKING:
    from onemodel.tracing.tracer import Tracer

AxisNames = Mapping[int, str] | Sequence[str | None] | None

_MULTIPLE = re.compile(r"([1-9][0-9]*)\*(.+)")


def declare_axes(tracer: Tracer, name: str, array: np.ndarray, axes: AxisNames) -> Axes:
    """Extents of the input ``name``; the tracer learns the sizes of its symbols.

    Raises TraceException (INVALID_USAGE).
    """
    extents = list(static_axes(array.shape))
    for axis, symbol in _named(axes):
        if not isinstance(axis, int) or not -array.ndim <= axis < array.ndim:
            raise tracer.exception(
                "OM508",
                "input()",
                f"axis {axis!r} is named {symbol!r}, but the example for {name!r} "
                f"has {array.ndim} axes",
            )
        extents[axis] = _declare(tracer, name, axis % array.ndim, symbol, array.shape[axis])
    return tuple(extents)


def _declare(tracer: Tracer, name: str, axis: int, symbol: str, size: int) -> Extent:
    if not isinstance(symbol, str) or not symbol:
        raise tracer.exception("OM508", "input()", f"axis {axis} of {name!r}: {symbol!r}")
    where = f"axis {symbol!r} (axis {axis} of input {name!r})"
    factor = 1
    multiple = _MULTIPLE.fullmatch(symbol)
    if multiple is not None:
        factor, symbol = int(multiple[1]), multiple[2]
        if size % factor:
            raise tracer.exception(
                "OM508", "input()", f"{where} has example size {size}, no multiple of {factor}"
            )
        size //= factor
        where = f"{symbol!r} in {where}"
    _remember(tracer, where, symbol, size)
    return Extent.symbol(symbol) * factor


def _remember(tracer: Tracer, where: str, symbol: str, size: int) -> None:
    """Note the example size of a symbol: not below 2, the same everywhere, no other's."""
    known = tracer.symbols
    if size < 2:
        raise tracer.exception("OM505", "input()", f"{where} has example size {size}, below 2")
    if known.get(symbol, size) != size:
        raise tracer.exception(
            "OM506",
            "input()",
            f"{where} has example size {size}, but {symbol!r} was {known[symbol]} before",
        )
    for other, other_size in known.items():
        if other != symbol and other_size == size:
            raise tracer.exception(
                "OM506", "input()", f"{where} has the example size {size} of {other!r}, too"
            )
    known[symbol] = size


def _named(axes: AxisNames) -> Iterator[tuple[int, str]]:
    if axes is None:
        return
    if isinstance(axes, Mapping):
        yield from axes.items()
        return
    for axis, symbol in enumerate(axes):
        if symbol is not None:
            yield axis, symbol
