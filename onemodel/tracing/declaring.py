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
_SYMBOL = re.compile(r"[^\d\s+*/(),-][^+*/(),]*")
"""A name that cannot be taken for an expression: ``b+1`` and ``2b`` are none."""

_HOW = (("name axes by their place", 'axes={"x": {0: "batch"}}'),)


def declare_axes(tracer: Tracer, name: str, array: np.ndarray, axes: AxisNames) -> Axes:
    """Extents of the input ``name``; the tracer learns the sizes of its symbols.

    Raises TraceException (INVALID_USAGE).
    """
    extents = list(static_axes(array.shape))
    if isinstance(axes, str) or not isinstance(axes, (Mapping, Sequence, type(None))):
        raise tracer.exception(
            "OM508",
            "input()",
            f"the axes of {name!r} are {axes!r}; they are a dict of axis -> name, or one name "
            "per axis",
            rewrites=_HOW,
        )
    for axis, symbol in _named(axes):
        if not isinstance(axis, int) or not -array.ndim <= axis < array.ndim:
            raise tracer.exception(
                "OM508",
                "input()",
                f"axis {axis!r} is named {symbol!r}, but the example for {name!r} "
                f"has {array.ndim} axes",
                rewrites=_HOW,
            )
        extents[axis] = _declare(tracer, name, axis % array.ndim, symbol, array.shape[axis])
    return tuple(extents)


def _declare(tracer: Tracer, name: str, axis: int, symbol: str, size: int) -> Extent:
    multiple = _MULTIPLE.fullmatch(symbol) if isinstance(symbol, str) else None
    plain = multiple[2] if multiple is not None else symbol
    if not isinstance(plain, str) or _SYMBOL.fullmatch(plain) is None:
        raise tracer.exception(
            "OM508",
            "input()",
            f"axis {axis} of input {name!r} is called {symbol!r}; a symbol is a name such as "
            "'batch', or a multiple of one such as '4*rows'",
            rewrites=_HOW,
        )
    where = f"axis {symbol!r} (axis {axis} of input {name!r})"
    factor = 1
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
