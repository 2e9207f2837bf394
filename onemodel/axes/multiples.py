"""Sizes that are equal wherever an axis is a multiple of a number."""

from __future__ import annotations

from onemodel.axes.extent import AxesError, Extent

MOST = 64
"""Largest multiple that is proposed."""


def as_multiples(left: Extent, right: Extent) -> tuple[tuple[str, str], ...]:
    """Rewrites (title, code) under which two sizes are equal at every size; empty if none.

    ``2*floor(H/4)`` and ``floor(H/2)`` are, where ``H`` is declared as ``4*H``.
    """
    names = sorted(left.symbols() | right.symbols())
    for factor in range(2, MOST + 1):
        needed = list(names)
        if not _equal(left, right, needed, factor):
            continue
        for name in names:
            fewer = [other for other in needed if other != name]
            if _equal(left, right, fewer, factor):
                needed = fewer
        listed = ", ".join(f'"{factor}*{name}"' for name in needed)
        return ((f"declare what is always a multiple of {factor} as one", f"axes: {listed}"),)
    return ()


def _equal(left: Extent, right: Extent, names: list[str], factor: int) -> bool:
    multiples = {name: Extent.symbol(name) * factor for name in names}
    try:
        return left.substitute(multiples) == right.substitute(multiples)
    except (AxesError, ZeroDivisionError):
        return False
