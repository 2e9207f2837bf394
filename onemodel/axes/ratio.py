"""The quotient of two sizes: a number that remembers what it is the quotient of."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from onemodel.axes.watched import Watched

MAX_DENOMINATOR = 1 << 20
"""Largest denominator with which a float counts as a fraction: 0.5 does, 0.1 does not."""

Part = Any
"""An integer, or an object that acts as one and has ``extent`` and ``value``."""


def fraction(value: Any) -> tuple[Part, Part] | None:
    """``value`` as (numerator, denominator) of integers or sizes; None for any other number.

    Only floats that are a fraction of a small power of two count: with them every step of
    the floating-point arithmetic is exact, so that rounding up or down gives the same.
    """
    if isinstance(value, SizeRatio):
        return value.numerator, value.denominator
    if isinstance(value, numbers.Integral):
        return (value, 1) if hasattr(value, "extent") else (int(value), 1)
    if isinstance(value, (float, np.floating)) and math.isfinite(value):
        exact = Fraction(float(value))
        if exact.denominator <= MAX_DENOMINATOR and abs(exact.numerator) < 1 << 31:
            return exact.numerator, exact.denominator
    return None


def _exactly(value: Any) -> tuple[int, int] | None:
    """Any finite real number as (numerator, denominator)."""
    if isinstance(value, (numbers.Real, np.floating)) and math.isfinite(value):
        exact = Fraction(value) if isinstance(value, Fraction) else Fraction(float(value))
        return exact.numerator, exact.denominator
    return None


class SizeRatio(Watched):
    """``height / 2`` or ``1.0 / time``: acts as the float it is in the example run.

    ``math.ceil``, ``math.floor`` and ``math.trunc`` give sizes again, sums with integers,
    products with powers of two and comparisons stay exact, and tensors take it as a number
    computed in the graph. Everything else consumes the sizes in it, which are told so.

    Args:
        numerator, denominator: integers or sizes, at least one of them a size.
        value: the number in the example run.
    """

    __slots__ = ("denominator", "numerator", "value")

    # NumPy's scalars and arrays leave their operators to this class.
    __array_ufunc__ = None

    def __init__(self, numerator: Part, denominator: Part, value: float) -> None:
        self.numerator = numerator
        self.denominator = denominator
        self.value = value

    def _consume(self, operation: str, outcome: Any) -> Any:
        told = None if isinstance(outcome, np.ndarray) else outcome
        for part in (self.numerator, self.denominator):
            if hasattr(part, "extent"):
                part._consume(operation, told)
        return outcome

    # -- rounding --------------------------------------------------------------------------

    def __floor__(self) -> Any:
        return self.numerator // self.denominator

    def __ceil__(self) -> Any:
        return -(-self.numerator // self.denominator)

    def __trunc__(self) -> Any:
        return math.floor(self) if self >= 0 else math.ceil(self)

    def __round__(self, digits: Any = None) -> Any:
        return self._consume("__round__", round(self.value, digits))

    # -- arithmetic --------------------------------------------------------------------------

    def _number(
        self, symbol: str, function: Callable[[Any, Any], Any], other: Any, reflected: bool
    ) -> Any:
        """With the plain number, and told."""
        if not isinstance(other, (numbers.Number, np.ndarray, np.generic)):
            return NotImplemented
        sized: Part = other if isinstance(other, SizeRatio) or hasattr(other, "extent") else None
        plain = other if sized is None else sized.value
        outcome = function(plain, self.value) if reflected else function(self.value, plain)
        if sized is not None:
            sized._consume(symbol, outcome)
        return self._consume(symbol, outcome)

    def _shift(
        self, symbol: str, function: Callable[[Any, Any], Any], other: Any, reflected: bool = False
    ) -> Any:
        """Sum or difference with an integer or a size."""
        if not isinstance(other, numbers.Integral):
            return self._number(symbol, function, other, reflected)
        shift = other * self.denominator
        pair = (shift, self.numerator) if reflected else (self.numerator, shift)
        plain = getattr(other, "value", other)
        value = function(plain, self.value) if reflected else function(self.value, plain)
        return SizeRatio(function(*pair), self.denominator, value)

    def _scale(self, symbol: str, function: Callable[[Any, Any], Any], other: Any) -> Any:
        """Product with, or quotient by, a power of two."""
        known = fraction(other) if not hasattr(other, "extent") else None
        if isinstance(other, SizeRatio) or known is None or not _power_of_two(known):
            return self._number(symbol, function, other, False)
        above, below = known if symbol == "*" else known[::-1]
        if below < 0:
            above, below = -above, -below
        value = function(self.value, float(other))
        return SizeRatio(self.numerator * above, self.denominator * below, value)

    def __add__(self, other: Any) -> Any:
        return self._shift("+", operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._shift("+", operator.add, other, reflected=True)

    def __sub__(self, other: Any) -> Any:
        return self._shift("-", operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._shift("-", operator.sub, other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return self._scale("*", operator.mul, other)

    def __rmul__(self, other: Any) -> Any:
        return self._scale("*", operator.mul, other)

    def __truediv__(self, other: Any) -> Any:
        return self._scale("/", operator.truediv, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._number("/", operator.truediv, other, True)

    def __floordiv__(self, other: Any) -> Any:
        return self._number("//", operator.floordiv, other, False)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._number("//", operator.floordiv, other, True)

    def __mod__(self, other: Any) -> Any:
        return self._number("%", operator.mod, other, False)

    def __rmod__(self, other: Any) -> Any:
        return self._number("%", operator.mod, other, True)

    def __pow__(self, other: Any) -> Any:
        return self._number("**", operator.pow, other, False)

    def __rpow__(self, other: Any) -> Any:
        return self._number("**", operator.pow, other, True)

    def __neg__(self) -> SizeRatio:
        return SizeRatio(-self.numerator, self.denominator, -self.value)

    def __abs__(self) -> SizeRatio:
        return self if self >= 0 else -self

    # -- comparison --------------------------------------------------------------------------

    def _compare(self, symbol: str, function: Callable[[Any, Any], Any], other: Any) -> Any:
        known = fraction(other) or _exactly(other)
        if known is not None and _positive(self.denominator) and _positive(known[1]):
            pair = self.numerator * known[1], known[0] * self.denominator
            plain = getattr(other, "value", other)
            # The two differ where the quotient rounds to ``other`` without being it.
            if function(*(getattr(part, "value", part) for part in pair)) == function(
                self.value, plain
            ):
                return function(*pair)
        if isinstance(other, (numbers.Real, np.ndarray)):
            return self._number(symbol, function, other, False)
        return NotImplemented

    def __bool__(self) -> bool:
        return bool(self.numerator != 0)

    def __hash__(self) -> int:
        return self._consume("__hash__", hash(self.value))

    # -- conversion --------------------------------------------------------------------------

    def __float__(self) -> float:
        return self._consume("__float__", self.value)

    def __int__(self) -> int:
        return self._consume("__int__", int(self.value))

    def __repr__(self) -> str:
        parts = (getattr(part, "extent", part) for part in (self.numerator, self.denominator))
        return "SizeRatio({}/{}={})".format(*parts, self.value)

    def __reduce__(self) -> tuple[Any, ...]:
        return float, (self._consume("__reduce__", self.value),)

    @property
    def real(self) -> SizeRatio:
        """The number itself, as for ``float``."""
        return self

    @property
    def imag(self) -> float:
        """0.0, as for ``float``."""
        return 0.0

    def conjugate(self) -> SizeRatio:
        """The number itself, as for ``float``."""
        return self

    def is_integer(self) -> bool:
        """Whether it is whole; consumes the sizes."""
        return self._consume("is_integer", self.value.is_integer())


numbers.Real.register(SizeRatio)


def _power_of_two(known: tuple[int, int]) -> bool:
    above = abs(known[0])
    return above > 0 and above & (above - 1) == 0  # a denominator always is one


def _positive(part: Part) -> bool:
    """Whether an integer or a size is known to be positive."""
    extent = getattr(part, "extent", None)
    return part > 0 if extent is None else extent.at_least(1)
