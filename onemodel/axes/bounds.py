"""What is known of a size at every assignment: its least and greatest value.

Declared symbols are at least 1. Besides interval arithmetic, rounding and extrema are relaxed
(``floor(x/k)`` lies between ``(x - k + 1)/k`` and ``x/k``; ``min(x, y)`` is one of the two), which
proves for instance that ``b - ceil(b/2)`` is never negative.

Atoms and extents are told by their attributes (``operation``, ``operands``, ``terms``), so that
this module stands below them.
"""

from __future__ import annotations

from typing import Any

from onemodel.axes import polynomial
from onemodel.axes.polynomial import Monomial, Polynomial

MAX_RELAXATIONS = 4
"""How many atoms of one size are relaxed in turn; bounds the cost."""


def bounds(terms: Polynomial) -> tuple[int | None, int | None]:
    """The least and greatest value, as far as known (None: unknown or unbounded)."""
    low = _least(terms, MAX_RELAXATIONS)
    high = _least({monomial: -factor for monomial, factor in terms.items()}, MAX_RELAXATIONS)
    return low, None if high is None else -high


def _least(terms: Polynomial, fuel: int) -> int | None:
    known = [
        low for low in (_interval_least(terms), _relaxed_least(terms, fuel)) if low is not None
    ]
    return max(known, default=None)


def _interval_least(terms: Polynomial) -> int | None:
    total = 0
    for monomial, coefficient in terms.items():
        low, high = _monomial_bounds(monomial)
        bound = low if coefficient > 0 else high
        if bound is None:
            return None
        total += coefficient * bound
    return total


def _relaxed_least(terms: Polynomial, fuel: int) -> int | None:
    """A bound from replacing the deepest derived atom by what it lies between."""
    place = _deepest(terms)
    if place is None or not fuel:
        return None
    monomial, index = place
    atom, coefficient = monomial[index], terms[monomial]
    others: Polynomial = {monomial[:index] + monomial[index + 1 :]: 1}
    rest = {key: factor for key, factor in terms.items() if key != monomial}
    if atom.operation == "floordiv":
        dividend, divisor = (operand.terms for operand in atom.operands)
        size = divisor[()]
        edge = dividend if coefficient < 0 else polynomial.add(dividend, {(): 1 - size})
        scaled = {key: factor * size for key, factor in rest.items()}
        product = polynomial.multiply(others, edge)
        low = _least(polynomial.add(scaled, product, coefficient), fuel - 1)
        return None if low is None else -(-low // size)
    candidates = [
        _least(
            polynomial.add(rest, polynomial.multiply(others, operand.terms), coefficient), fuel - 1
        )
        for operand in atom.operands
    ]
    known = [low for low in candidates if low is not None]
    # For -min and +max every operand gives a bound, otherwise the worst of them does.
    if (atom.operation == "min") == (coefficient < 0):
        return max(known, default=None)
    return min(known) if len(known) == len(candidates) else None


def _deepest(terms: Polynomial) -> tuple[Monomial, int] | None:
    best: tuple[int, Monomial, int] | None = None
    for monomial in terms:
        for index, atom in enumerate(monomial):
            if not _relaxable(atom) or (best is not None and atom.depth <= best[0]):
                continue
            others = monomial[:index] + monomial[index + 1 :]
            low, _ = _monomial_bounds(others)
            if low is not None:
                best = (atom.depth, monomial, index)
    return None if best is None else best[1:]


def _relaxable(atom: Any) -> bool:
    if atom.operation == "floordiv":
        divisor = atom.operands[1].terms
        return list(divisor) == [()] and divisor[()] > 0
    return atom.operation in ("max", "min")


def _monomial_bounds(monomial: Monomial) -> tuple[int | None, int | None]:
    """Bounds of a product of non-negative atoms; unknown where one may be negative."""
    low: int = 1
    high: int | None = 1
    for atom in monomial:
        least, greatest = _atom_bounds(atom)
        if len(monomial) == 1:
            return least, greatest
        if least is None or least < 0:
            return None, None
        low = low * least
        high = None if high is None or greatest is None else high * greatest
    return low, high


def _atom_bounds(atom: Any) -> tuple[int | None, int | None]:
    if not atom.operation:
        return 1, None
    spans = [operand.bounds() for operand in atom.operands]
    lows = [low for low, _ in spans if low is not None]
    highs = [high for _, high in spans if high is not None]
    if atom.operation == "max":
        return max(lows, default=None), max(highs) if len(highs) == len(spans) else None
    if atom.operation == "min":
        return min(lows) if len(lows) == len(spans) else None, min(highs, default=None)
    (low, high), (least, greatest) = spans
    if least is None or least < 1:
        return None, None
    if greatest is None or least != greatest:
        return (0 if low is not None and low >= 0 else None), None
    return None if low is None else low // least, None if high is None else high // least
