"""Integer polynomials over ordered, hashable atoms: the arithmetic below extents.

A polynomial is a dict from monomial to coefficient, without zero coefficients. A
monomial is a sorted tuple of atoms, with repetition for powers; the empty tuple is
the constant term. Nothing here knows what an atom is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

Monomial: TypeAlias = tuple[Any, ...]
Polynomial: TypeAlias = dict[Monomial, int]


def leading_first(monomial: Monomial) -> tuple[int, Monomial]:
    """Sort key of a monomial order: higher degrees first, then by atoms; constants last."""
    return (-len(monomial), monomial)


def add(left: Polynomial, right: Polynomial, scale: int = 1) -> Polynomial:
    """``left + scale * right``."""
    result = dict(left)
    for monomial, coefficient in right.items():
        total = result.get(monomial, 0) + scale * coefficient
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    return result


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """``left * right``, expanded."""
    result: Polynomial = {}
    for monomial, coefficient in left.items():
        for other, factor in right.items():
            product = tuple(sorted(monomial + other))
            result[product] = result.get(product, 0) + coefficient * factor
    return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}


def intersection(left: Monomial, right: Monomial) -> Monomial:
    """The greatest common divisor of two monomials."""
    return tuple(sorted((Counter(left) & Counter(right)).elements()))


def without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """``monomial / divisor``, or None where it does not divide."""
    if not divisor:
        return monomial
    remaining = list(monomial)
    for atom in divisor:
        if atom not in remaining:
            return None
        remaining.remove(atom)
    return tuple(remaining)


def common_monomial(monomials: Iterable[Monomial]) -> Monomial:
    """The greatest monomial that divides all of ``monomials`` (at least one)."""
    iterator = iter(monomials)
    common = next(iterator)
    for monomial in iterator:
        if not common:
            break
        common = intersection(common, monomial)
    return common


def content(polynomial: Polynomial) -> int:
    """The greatest common divisor of the coefficients."""
    return math.gcd(*polynomial.values())


def leading(polynomial: Polynomial) -> Monomial:
    """The first monomial in the order of :func:`leading_first`."""
    return min(polynomial, key=leading_first)


def exact_quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """The polynomial ``q`` with ``q * divisor == dividend``, or None where there is none.

    Long division by the leading monomial. Each step removes the leading monomial of the
    remainder and the order admits finitely many below it, so that the loop ends; a first
    step that does not divide shows that no exact quotient exists.
    """
    lead = leading(divisor)
    remainder = dict(dividend)
    quotient: Polynomial = {}
    while remainder:
        top = leading(remainder)
        monomial = without(top, lead)
        if monomial is None or remainder[top] % divisor[lead]:
            return None
        step = {monomial: remainder[top] // divisor[lead]}
        quotient = add(quotient, step)
        remainder = add(remainder, multiply(step, divisor), -1)
    return quotient
