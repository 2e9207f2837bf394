"""Sizes as user code meets them: integers that remember their extent.

A :class:`Size` acts as the integer it is in the example run and carries the extent it stands
for, so that ``x.reshape(b * t, -1)`` is exact. Integer arithmetic stays symbolic. Whatever turns
a size into a fixed number (an index, a loop, a branch, a float) is told to ``notify``, because a
graph recorded from it may hold at the example's size only.
"""

from __future__ import annotations

import decimal
import math
import numbers
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from onemodel.axes import ratio
from onemodel.axes.extent import AxesError, Extent, as_extent
from onemodel.axes.watched import Watched

MAX_EXACT_POWER = 8
"""Largest exponent for which a power of a size stays symbolic."""

_EXACT_UFUNCS: dict[Any, Callable[[Any, Any], Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.floor_divide: operator.floordiv,
    np.remainder: operator.mod,
    np.equal: operator.eq,
    np.not_equal: operator.ne,
    np.less: operator.lt,
    np.less_equal: operator.le,
    np.greater: operator.gt,
    np.greater_equal: operator.ge,
}
_COMPARISONS = (
    np.equal,
    np.not_equal,
    np.less,
    np.less_equal,
    np.greater,
    np.greater_equal,
)


@dataclass(frozen=True)
class SizeEvent:
    """A size was consumed as a fixed number.

    Attributes:
        extent: what the size stands for.
        value: its number in the example run.
        operation: how it was consumed: ``__index__``, ``__float__``, ``<``, ``/``, ...
        other: the extent on the other side of a comparison, else None.
        outcome: what user code was given: the number, or the truth of the comparison; None for an
            array, whose contents are nobody's business.
    """

    extent: Extent
    value: int
    operation: str
    other: Extent | None = None
    outcome: object = None


def _integral(value: object) -> bool:
    return isinstance(value, (numbers.Integral, np.integer))


class Size(Watched):
    """An axis size read from a traced value.

    Not a subclass of ``int``, so that ``range(size)`` and ``np.zeros(size)`` go through
    ``__index__`` and are noticed; registered as ``numbers.Integral``. ``+ - * // %``, ``divmod``
    and small powers with integers give a size again, or a plain integer where the result is the
    same for every assignment; ``/`` gives a :class:`~onemodel.axes.ratio.SizeRatio`.
    Comparisons that no assignment can change are not told.

    Args:
        extent: what the size stands for.
        value: its number in the example run.
        notify: called with a :class:`SizeEvent` on every consumption; may raise to refuse it.
    """

    __slots__ = ("extent", "notify", "value")

    def __init__(self, extent: Extent, value: int, notify: Callable[[SizeEvent], None]) -> None:
        self.extent = extent
        self.value = value
        self.notify = notify

    def _consume(self, operation: str, outcome: Any, other: Extent | None = None) -> Any:
        told = None if isinstance(outcome, np.ndarray) else outcome
        self.notify(SizeEvent(self.extent, self.value, operation, other, told))
        return outcome

    def _exact(
        self, symbol: str, function: Callable[[Any, Any], Any], left: Any, right: Any
    ) -> Any:
        """``function(left, right)``, where one of the two is this size."""
        value = function(plain(left), plain(right))
        try:
            extent = function(extent_of(left), extent_of(right))
        except AxesError:  # derived too deeply to be followed: from here on a fixed number
            return self._consume(symbol, value)
        return value if extent.is_static else Size(extent, value, self.notify)

    def _apply(
        self, symbol: str, function: Callable[[Any, Any], Any], other: Any, reflected: bool = False
    ) -> Any:
        if _integral(other):
            return self._exact(symbol, function, *((other, self) if reflected else (self, other)))
        return self._number(symbol, function, other, reflected)

    def _number(
        self, symbol: str, function: Callable[[Any, Any], Any], other: Any, reflected: bool = False
    ) -> Any:
        """Arithmetic that leaves the integers: with the plain number, and told."""
        if isinstance(other, ratio.SizeRatio):
            return NotImplemented
        if not isinstance(other, (numbers.Number, np.ndarray, np.generic)):
            return NotImplemented
        number = plain(other) if isinstance(other, Size) else other
        outcome = function(number, self.value) if reflected else function(self.value, number)
        return self._consume(symbol, outcome)

    # -- exact arithmetic --------------------------------------------------------------------

    def __add__(self, other: Any) -> Any:
        return self._apply("+", operator.add, other)

    def __radd__(self, other: Any) -> Any:
        return self._apply("+", operator.add, other, reflected=True)

    def __sub__(self, other: Any) -> Any:
        return self._apply("-", operator.sub, other)

    def __rsub__(self, other: Any) -> Any:
        return self._apply("-", operator.sub, other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (list, tuple, str, bytes)):  # a sequence repeated by a size
            return other * operator.index(self)
        return self._apply("*", operator.mul, other)

    def __rmul__(self, other: Any) -> Any:
        return self._apply("*", operator.mul, other, reflected=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._apply("//", operator.floordiv, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._apply("//", operator.floordiv, other, reflected=True)

    def __mod__(self, other: Any) -> Any:
        return self._apply("%", operator.mod, other)

    def __rmod__(self, other: Any) -> Any:
        return self._apply("%", operator.mod, other, reflected=True)

    def __divmod__(self, other: Any) -> Any:
        return (self // other, self % other) if _integral(other) else NotImplemented

    def __rdivmod__(self, other: Any) -> Any:
        return (other // self, other % self) if _integral(other) else NotImplemented

    def _quotient(self, left: Any, right: Any) -> Any:
        """``left / right``, where one of the two is this size."""
        if isinstance(left if right is self else right, ratio.SizeRatio):
            return NotImplemented
        above, below = ratio.fraction(left), ratio.fraction(right)
        if above is None or below is None:
            other, reflected = (left, True) if right is self else (right, False)
            return self._number("/", operator.truediv, other, reflected)
        numerator, denominator = above[0] * below[1], above[1] * below[0]
        value = plain(numerator) / plain(denominator)
        try:
            whole = extent_of(numerator) // extent_of(denominator)
            fixed = whole.is_static and whole * extent_of(denominator) == extent_of(numerator)
        except AxesError:
            return self._consume("/", value)
        return value if fixed else ratio.SizeRatio(numerator, denominator, value)

    def __truediv__(self, other: Any) -> Any:
        return self._quotient(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._quotient(other, self)

    def __neg__(self) -> Any:
        return self._exact("-", operator.mul, self, -1)

    def __abs__(self) -> Any:
        return -self if self < 0 else self

    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            return pow(operator.index(self), exponent, modulus)
        small = not isinstance(exponent, Size) and _integral(exponent)
        if small and 1 <= exponent <= MAX_EXACT_POWER:
            return self if exponent == 1 else self * self ** (int(exponent) - 1)
        return self._number("**", operator.pow, exponent)

    # -- arithmetic that consumes --------------------------------------------------------------

    def __rpow__(self, base: Any) -> Any:
        return self._number("**", operator.pow, base, reflected=True)

    def __and__(self, other: Any) -> Any:
        return self._number("&", operator.and_, other)

    def __or__(self, other: Any) -> Any:
        return self._number("|", operator.or_, other)

    def __xor__(self, other: Any) -> Any:
        return self._number("^", operator.xor, other)

    def __lshift__(self, other: Any) -> Any:
        return self._number("<<", operator.lshift, other)

    def __rshift__(self, other: Any) -> Any:
        return self._number(">>", operator.rshift, other)

    def __rlshift__(self, other: Any) -> Any:
        return self._number("<<", operator.lshift, other, reflected=True)

    def __rrshift__(self, other: Any) -> Any:
        return self._number(">>", operator.rshift, other, reflected=True)

    __rand__ = __and__
    __ror__ = __or__
    __rxor__ = __xor__

    def __invert__(self) -> int:
        return self._consume("~", ~self.value)

    # -- comparison ----------------------------------------------------------------------------

    def _compare(self, symbol: str, function: Callable[[Any, Any], bool], other: Any) -> Any:
        if isinstance(other, np.ndarray) and other.ndim == 0:
            other = other.item()
        if not _integral(other):
            if isinstance(other, ratio.SizeRatio):
                return NotImplemented
            if isinstance(other, np.ndarray):
                return self._consume(symbol, function(self.value, other))
            if isinstance(other, (numbers.Real, decimal.Decimal)):
                return self._compare_real(symbol, function, other)
            return NotImplemented
        outcome = bool(function(self.value, plain(other)))
        extent = extent_of(other)
        if not _decided(symbol, self.extent, extent):
            self._consume(symbol, outcome, extent)
        return outcome

    def _compare_real(self, symbol: str, function: Callable[[Any, Any], Any], other: Any) -> bool:
        """With a fraction, an infinity or NaN: with the integer at which it comes out otherwise."""
        outcome = bool(function(self.value, other))
        if other != other or other in (math.inf, -math.inf):
            return outcome  # alike for every size
        whole = math.floor(other)
        if whole == other:
            return self._compare(symbol, function, whole)
        if symbol in ("==", "!="):
            return outcome
        return self._compare(symbol, function, whole + (symbol in ("<", ">=")))

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        # A missed look-up compares hashes only, so that hashing itself decides a branch.
        return self._consume("__hash__", hash(self.value))

    # -- conversion ----------------------------------------------------------------------------

    def __index__(self) -> int:
        return self._consume("__index__", self.value)

    def __int__(self) -> int:
        return self._consume("__int__", self.value)

    def __float__(self) -> float:
        return self._consume("__float__", float(self.value))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = _EXACT_UFUNCS.get(ufunc) if method == "__call__" and not options else None
        # NumPy hands its scalars over as arrays of rank 0; their own operators would come
        # back here, hence plain integers.
        scalars = [
            v.item() if isinstance(v, (np.generic, np.ndarray)) and v.ndim == 0 else v
            for v in inputs
        ]
        takes = numbers.Real if ufunc in _COMPARISONS else numbers.Integral
        if function is not None and all(isinstance(value, takes) for value in scalars):
            return function(*scalars)
        known = (numbers.Number, np.ndarray, np.generic, list, tuple)
        if not all(isinstance(value, known) for value in inputs):
            return NotImplemented
        values = [strip_sizes(value) for value in inputs]
        outcome = getattr(ufunc, method)(*values, **options)
        return self._consume(f"numpy.{ufunc.__name__}", outcome)

    def __repr__(self) -> str:
        return f"Size({self.extent}={self.value})"

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return self
        return self._consume("__round__", round(self.value, operator.index(digits)))

    def __trunc__(self) -> Size:
        return self

    def __floor__(self) -> Size:
        return self

    def __ceil__(self) -> Size:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (self._consume("__reduce__", self.value),)

    # -- the rest of an integer ----------------------------------------------------------------

    @property
    def real(self) -> Size:
        """The size itself, as for ``int``."""
        return self

    @property
    def imag(self) -> int:
        """0, as for ``int``."""
        return 0

    @property
    def numerator(self) -> Size:
        """The size itself, as for ``int``."""
        return self

    @property
    def denominator(self) -> int:
        """1, as for ``int``."""
        return 1

    def conjugate(self) -> Size:
        """The size itself, as for ``int``."""
        return self

    def is_integer(self) -> bool:
        """True, as for ``int``."""
        return True

    def bit_length(self) -> int:
        """Bits of the example's number; consumes the size."""
        return self._consume("bit_length", self.value.bit_length())


numbers.Integral.register(Size)


def _decided(symbol: str, left: Extent, right: Extent) -> bool:
    """Whether a comparison has the same outcome for every assignment."""
    try:
        difference = left - right
    except AxesError:
        return False
    low, high = difference.bounds()
    below = high is not None and high < 0
    above = low is not None and low > 0
    not_below = low is not None and low >= 0
    not_above = high is not None and high <= 0
    match symbol:
        case "==" | "!=":
            return below or above or difference == 0
        case "<" | ">=":
            return below or not_below
        case _:
            return above or not_above


def plain(size: Any) -> int:
    """The number of an integer or a size, without notice.

    Raises:
        TypeError: for anything that is no integer.
    """
    return size.value if isinstance(size, Size) else operator.index(size)


def extent_of(size: Any) -> Extent:
    """The extent of an integer, a size or an extent, without notice.

    Raises:
        TypeError: for anything else.
    """
    return size.extent if isinstance(size, Size) else as_extent(size)


_PLAIN = frozenset({int, float, bool, str, type(None)})


def contains_size(value: Any) -> bool:
    """Whether ``value`` is a size or holds one in nested tuples, lists, dicts and slices."""
    if type(value) in _PLAIN:
        return False
    if isinstance(value, (tuple, list)):
        for item in value:  # plain numbers, mostly, for which every view pays
            if type(item) not in _PLAIN:
                return any(map(contains_size, value))
        return False
    if isinstance(value, Size):
        return True
    if isinstance(value, Mapping):
        return any(map(contains_size, value.values()))
    if isinstance(value, slice):
        return any(map(contains_size, (value.start, value.stop, value.step)))
    return False


def strip_sizes(value: Any) -> Any:
    """``value`` with sizes replaced by their numbers, without notice.

    Looks into nested tuples (named ones keep their type), lists, dicts and slices; anything
    without a size comes back as it is.
    """
    if isinstance(value, Size):
        return value.value
    if not contains_size(value):
        return value
    if isinstance(value, tuple):
        items = map(strip_sizes, value)
        make = getattr(value, "_make", tuple)  # named tuples
        return make(items)
    if isinstance(value, list):
        return [strip_sizes(item) for item in value]
    if isinstance(value, slice):
        return slice(*map(strip_sizes, (value.start, value.stop, value.step)))
    return {key: strip_sizes(item) for key, item in value.items()}
