"""Symbolic sizes: an extent is a coefficient times a product of atoms.

An atom is a declared symbol (``batch``) or a derived extent with its defining expression
(``batch + 1``, ``floor(width/2)``). Extents are canonical: sizes that are equal by the algebra
compare equal and hash alike, whatever the route that led to them. A size without symbols is
an extent too and equals the plain integer.

Declared symbols stand for integers of at least 1; differences may become negative on the way.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, total_ordering
from typing import Any, TypeAlias

from onemodel.axes import polynomial, text
from onemodel.axes.bounds import bounds
from onemodel.axes.polynomial import Polynomial

MAX_DEPTH = 64
"""How deep derived extents may nest."""

MAX_WEIGHT = 4096
"""How many atoms an extent may mention, written out in full."""

DERIVED = ("sum", "floordiv", "max", "min")
"""Operations of derived atoms. A remainder is none: ``x % k`` is ``x - k*floor(x/k)``."""


class AxesError(Exception):
    """A size that the algebra or an axis rule cannot express.

    Attributes:
        message: what happened and why.
        code: stable code of the lesson, ``OM403`` unless told.
        extents: the extents involved.
        rewrites: what to write instead, as pairs of title and code.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "OM403",
        extents: Sequence[Extent] = (),
        rewrites: Sequence[tuple[str, str]] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.extents = tuple(extents)
        self.rewrites = tuple(rewrites)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_error, (self.message, self.code, self.extents, self.rewrites)


def _rebuild_error(message: str, code: str, extents: Any, rewrites: Any) -> AxesError:
    return AxesError(message, code=code, extents=extents, rewrites=rewrites)


@total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class Atom:
    """A declared symbol (``name``) or a derived extent (``operation`` on ``operands``).

    ``operation`` is "" for a symbol and one of :data:`DERIVED` otherwise. A sum has two or
    more single-term operands; a floordiv has a dividend and a divisor.
    """

    name: str = ""
    operation: str = ""
    operands: tuple[Extent, ...] = ()

    @cached_property
    def key(self) -> str:
        """A text that is the same exactly for equal atoms."""
        if not self.operation:
            return repr(self.name)
        return f"{self.operation}({','.join(operand.key for operand in self.operands)})"

    @cached_property
    def depth(self) -> int:
        """How deep derived atoms nest in this one; 0 for a symbol."""
        return 1 + max(operand.depth for operand in self.operands) if self.operation else 0

    @cached_property
    def weight(self) -> int:
        """How many atoms the defining expression mentions, this one included."""
        return 1 + sum(operand.weight for operand in self.operands)

    @cached_property
    def terms(self) -> Polynomial:
        """The atom as a polynomial over atoms that are not sums."""
        if self.operation != "sum":
            return {(self,): 1}
        result: Polynomial = {}
        for operand in self.operands:
            result = polynomial.add(result, operand.terms)
        return result

    def evaluate(self, assignment: Mapping[str, int]) -> int:
        """The size at ``assignment`` (symbol to size)."""
        if not self.operation:
            if self.name not in assignment:
                raise AxesError(f"no size is given for the symbol {self.name!r}")
            return int(assignment[self.name])
        values = [operand.evaluate(assignment) for operand in self.operands]
        match self.operation:
            case "sum":
                return sum(values)
            case "floordiv":
                return values[0] // values[1]
            case "max":
                return max(values)
            case _:
                return min(values)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and (self is other or self.key == other.key)

    def __lt__(self, other: Atom) -> bool:
        return (self.operation != "", self.key) < (other.operation != "", other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    def __str__(self) -> str:
        return text.cut(text.atom_text(self))

    def __repr__(self) -> str:
        return f"Atom({self})"


@dataclass(frozen=True, eq=False, repr=False)
class Extent:
    """A size: ``coefficient`` times the product of ``atoms``.

    ``atoms`` is sorted and repeats an atom for a power. Build extents with :meth:`of`,
    :meth:`symbol` and arithmetic; the constructor does not normalise. Sums factor their
    greatest common divisor out (``2*b + 2`` is ``2*(b + 1)``) and products of sums stay
    products; equality and hashing go by the expanded polynomial.

    Raises:
        AxesError: from arithmetic whose result would nest or grow beyond
            :data:`MAX_DEPTH` or :data:`MAX_WEIGHT`.
    """

    coefficient: int
    atoms: tuple[Atom, ...] = ()

    @staticmethod
    def of(size: int) -> Extent:
        """The static extent ``size``."""
        return Extent(int(size))

    @staticmethod
    def symbol(name: str) -> Extent:
        """The extent of a declared symbol, which stands for a size of at least 1.

        Raises:
            ValueError: for an empty name.
        """
        if not name:
            raise ValueError("a symbolic size needs a name")
        return Extent(1, (Atom(name),))

    @property
    def is_static(self) -> bool:
        """Whether the size is the same for every assignment."""
        return not self.atoms

    @property
    def is_atom(self) -> bool:
        """Whether this is exactly one atom: coefficient 1, no power, no product."""
        return self.coefficient == 1 and len(self.atoms) == 1

    @property
    def value(self) -> int:
        """The size of a static extent.

        Raises:
            AxesError: where the extent is symbolic.
        """
        if self.atoms:
            raise AxesError(f"the size {self} is symbolic, it has no one value", extents=(self,))
        return self.coefficient

    @cached_property
    def terms(self) -> Polynomial:
        """The expanded polynomial over atoms that are not sums. Not to be changed."""
        result: Polynomial = {(): self.coefficient} if self.coefficient else {}
        for atom in self.atoms:
            if len(result) * len(atom.terms) > MAX_WEIGHT:
                raise AxesError("a product of symbolic sizes grows too large to be followed")
            result = polynomial.multiply(result, atom.terms)
        return result

    @cached_property
    def key(self) -> str:
        """A text that is the same exactly for equal extents."""
        ordered = sorted(self.terms.items(), key=lambda term: polynomial.leading_first(term[0]))
        return "+".join(
            "*".join([str(coefficient), *(atom.key for atom in monomial)])
            for monomial, coefficient in ordered
        )

    @cached_property
    def depth(self) -> int:
        """How deep derived atoms nest; 0 for products of symbols."""
        return max((atom.depth for atom in self.atoms), default=0)

    @cached_property
    def weight(self) -> int:
        """How many atoms the extent mentions, written out in full."""
        return 1 + sum(atom.weight for atom in self.atoms)

    def symbols(self) -> frozenset[str]:
        """Names of the declared symbols the size depends on."""
        names: set[str] = set()
        for atom in self.atoms:
            if atom.operation:
                names.update(*(operand.symbols() for operand in atom.operands))
            else:
                names.add(atom.name)
        return frozenset(names)

    def evaluate(self, assignment: Mapping[str, int]) -> int:
        """The size at ``assignment`` (symbol to size).

        Raises:
            AxesError: where a symbol has no size.
            ZeroDivisionError: where a divisor becomes zero.
        """
        size = self.coefficient
        for atom in self.atoms:
            size *= atom.evaluate(assignment)
        return size

    def substitute(self, replacements: Mapping[str, int | Extent]) -> Extent:
        """The extent with symbols replaced by sizes; other symbols stay."""
        result = Extent(self.coefficient)
        for atom in self.atoms:
            result = result * _substitute(atom, replacements)
        return result

    @cached_property
    def _bounds(self) -> tuple[int | None, int | None]:
        low, high = bounds(self.terms)
        if low is None and self.coefficient > 0 and len(self.atoms) > 1:
            # b*(t - 1) cannot be bounded term by term, but factor by factor.
            lows = [Extent(1, (atom,)).bounds()[0] for atom in self.atoms]
            if all(least is not None and least >= 0 for least in lows):
                low = self.coefficient * math.prod(least or 0 for least in lows)
        return low, high

    def bounds(self) -> tuple[int | None, int | None]:
        """The least and greatest size over all assignments, as far as known (None: unknown)."""
        return self._bounds

    def at_least(self, other: int | Extent) -> bool:
        """Whether the size is known to be at least ``other`` for every assignment."""
        low, _ = (self - other).bounds()
        return low is not None and low >= 0

    # -- arithmetic ------------------------------------------------------------------------

    def __mul__(self, other: int | Extent) -> Extent:
        right = _operand(other)
        if right is None:
            return NotImplemented
        coefficient = self.coefficient * right.coefficient
        if not coefficient:
            return Extent(0)
        return _bounded(Extent(coefficient, tuple(sorted(self.atoms + right.atoms))))

    def __add__(self, other: int | Extent) -> Extent:
        right = _operand(other)
        if right is None:
            return NotImplemented
        if self.atoms == right.atoms:
            total = self.coefficient + right.coefficient
            return Extent(total, self.atoms if total else ())
        common = polynomial.intersection(self.atoms, right.atoms)
        one = Extent(self.coefficient, polynomial.without(self.atoms, common) or ())
        two = Extent(right.coefficient, polynomial.without(right.atoms, common) or ())
        return from_terms(polynomial.add(one.terms, two.terms)) * Extent(1, common)

    def __neg__(self) -> Extent:
        return Extent(-self.coefficient, self.atoms)

    def __pos__(self) -> Extent:
        return self

    def __sub__(self, other: int | Extent) -> Extent:
        right = _operand(other)
        return NotImplemented if right is None else self + -right

    def __rsub__(self, other: int | Extent) -> Extent:
        return -self + other

    def __floordiv__(self, other: int | Extent) -> Extent:
        right = _operand(other)
        return NotImplemented if right is None else _floordiv(self, right)

    def __rfloordiv__(self, other: int | Extent) -> Extent:
        left = _operand(other)
        return NotImplemented if left is None else _floordiv(left, self)

    def __mod__(self, other: int | Extent) -> Extent:
        right = _operand(other)
        return NotImplemented if right is None else self - right * _floordiv(self, right)

    def __rmod__(self, other: int | Extent) -> Extent:
        left = _operand(other)
        return NotImplemented if left is None else left % self

    __radd__ = __add__
    __rmul__ = __mul__

    def ceildiv(self, divisor: int | Extent) -> Extent:
        """``ceil(self / divisor)``."""
        return -(-self // divisor)

    def maximum(self, other: int | Extent) -> Extent:
        """The larger of two sizes."""
        return _extremum("max", self, as_extent(other))

    def minimum(self, other: int | Extent) -> Extent:
        """The smaller of two sizes."""
        return _extremum("min", self, as_extent(other))

    # -- identity --------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int):
            return self.is_static and self.coefficient == other
        if not isinstance(other, Extent):
            return NotImplemented
        if self.coefficient == other.coefficient and self.atoms == other.atoms:
            return True
        return bool(self.atoms and other.atoms) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key) if self.atoms else hash(self.coefficient)

    def __str__(self) -> str:
        return text.cut(text.extent_text(self))

    def __repr__(self) -> str:
        return f"Extent({self})"


Axes: TypeAlias = tuple[Extent, ...]
"""The sizes of all axes of a value; static sizes are extents without atoms."""


def as_extent(size: Any) -> Extent:
    """``size`` as an extent: an extent, an integer, or an object with an ``extent``.

    Raises:
        TypeError: for anything else.
    """
    if isinstance(size, Extent):
        return size
    if isinstance(size, int):
        return Extent(int(size))
    extent = getattr(size, "extent", None)
    return extent if isinstance(extent, Extent) else Extent(operator.index(size))


def static_axes(shape: Sequence[int]) -> Axes:
    """The axes of a shape whose sizes are all fixed."""
    return tuple([_static(int(size)) for size in shape])


@lru_cache(maxsize=4096)
def _static(size: int) -> Extent:
    return Extent(size)


def axes_text(axes: Sequence[int | Extent]) -> str:
    """``[batch, 3]``."""
    return f"[{', '.join(map(str, axes))}]"


def evaluate_axes(axes: Sequence[Extent], assignment: Mapping[str, int]) -> tuple[int, ...]:
    """The shape at ``assignment``."""
    return tuple([extent.evaluate(assignment) for extent in axes])


def from_terms(terms: Polynomial) -> Extent:
    """The extent of an expanded polynomial, with its common factors taken out."""
    if not terms:
        return Extent(0)
    if len(terms) == 1:
        ((monomial, coefficient),) = terms.items()
        return Extent(coefficient, monomial)
    common = polynomial.common_monomial(terms)
    ordered = sorted(terms, key=polynomial.leading_first)
    factor = polynomial.content(terms) * (1 if terms[ordered[0]] > 0 else -1)
    operands = tuple(
        Extent(terms[monomial] // factor, polynomial.without(monomial, common) or ())
        for monomial in ordered
    )
    atom = Atom(operation="sum", operands=operands)
    return _bounded(Extent(factor, tuple(sorted((*common, atom)))))


def _operand(value: object) -> Extent | None:
    if isinstance(value, Extent):
        return value
    return Extent(int(value)) if isinstance(value, int) else None


def _bounded(extent: Extent) -> Extent:
    """``extent``, refused where it nests or grows without end."""
    if extent.depth > MAX_DEPTH or extent.weight > MAX_WEIGHT:
        raise AxesError(
            "a symbolic size is derived in too many steps to be followed: more than "
            f"{MAX_DEPTH} nested or {MAX_WEIGHT} mentioned sizes",
            rewrites=(("declare the axis static, or derive the size in fewer steps", ""),),
        )
    return extent


def _derived(operation: str, *operands: Extent) -> Extent:
    return _bounded(Extent(1, (Atom(operation=operation, operands=operands),)))


# -- division --------------------------------------------------------------------------------


def _floordiv(dividend: Extent, divisor: Extent) -> Extent:
    """``floor(dividend / divisor)``, exact wherever the algebra can tell."""
    if divisor == 0:
        raise ZeroDivisionError(f"the size {dividend} is divided by zero")
    if divisor.coefficient < 0:
        dividend, divisor = -dividend, -divisor
    if dividend.is_static and divisor.is_static:
        return Extent(dividend.coefficient // divisor.coefficient)
    common = polynomial.intersection(dividend.atoms, divisor.atoms)
    if common:
        dividend = Extent(dividend.coefficient, polynomial.without(dividend.atoms, common) or ())
        divisor = Extent(divisor.coefficient, polynomial.without(divisor.atoms, common) or ())
    if divisor.is_static and dividend.coefficient % divisor.coefficient == 0:
        return Extent(dividend.coefficient // divisor.coefficient, dividend.atoms)
    exact = polynomial.exact_quotient(dividend.terms, divisor.terms)
    if exact is not None:
        return from_terms(exact)
    quotient, remainder = _split(dividend, divisor)
    return from_terms(quotient) + _floordiv_rest(from_terms(remainder), divisor)


def _split(dividend: Extent, divisor: Extent) -> tuple[Polynomial, Polynomial]:
    """``(q, r)`` with ``dividend == q * divisor + r``, term by term.

    Coefficients in ``r`` keep their sign and are smaller than the divisor's; a constant
    is brought into ``0 <= r < divisor``. A divisor that is a sum takes nothing out.
    """
    if len(divisor.terms) > 1:
        return {}, dividend.terms
    ((lead, factor),) = divisor.terms.items()
    quotient: Polynomial = {}
    remainder: Polynomial = {}
    for monomial, coefficient in dividend.terms.items():
        rest = polynomial.without(monomial, lead)
        if rest is None:
            remainder[monomial] = coefficient
            continue
        part, left = divmod(coefficient, factor)
        if monomial and left and coefficient < 0:
            part, left = part + 1, left - factor
        if part:
            quotient[rest] = part
        if left:
            remainder[monomial] = left
    return quotient, remainder


def _floordiv_rest(dividend: Extent, divisor: Extent) -> Extent:
    """``floor(dividend / divisor)`` where no whole part is left to take out."""
    low, high = dividend.bounds()
    least, _ = divisor.bounds()
    if low is not None and high is not None and least is not None and low >= 0 and high < least:
        return Extent(0)
    if not divisor.is_static:
        return _derived("floordiv", dividend, divisor)
    size = divisor.coefficient
    terms = dividend.terms
    constant = terms.get((), 0)
    symbolic = {monomial: factor for monomial, factor in terms.items() if monomial}
    if symbolic[polynomial.leading(symbolic)] < 0:  # floor(-x/k) is -ceil(x/k)
        return -_floordiv(-dividend + (size - 1), divisor)
    shared = math.gcd(size, polynomial.content(symbolic))
    if shared > 1:  # the constant below the shared step never carries over
        reduced = {monomial: factor // shared for monomial, factor in symbolic.items()}
        return _floordiv(from_terms(reduced) + constant // shared, Extent(size // shared))
    for monomial, factor in symbolic.items():
        nested = monomial[0]
        if len(monomial) == 1 and abs(factor) == 1 and nested.operation == "floordiv":
            inner, by = nested.operands
            if by.is_static:  # floor((floor(x/a) + y)/k) is floor((x + a*y)/(a*k))
                if factor < 0:  # and -floor(x/a) is floor((a - 1 - x)/a)
                    inner = by - 1 - inner
                rest = from_terms({m: f for m, f in terms.items() if m != monomial})
                return _floordiv(inner + rest * by, by * size)
    return _derived("floordiv", dividend, divisor)


def _extremum(operation: str, left: Extent, right: Extent) -> Extent:
    larger, smaller = (left, right) if operation == "max" else (right, left)
    if larger.at_least(smaller):
        return left
    if smaller.at_least(larger):
        return right
    operands: list[Extent] = []
    for extent in (left, right):
        same = extent.is_atom and extent.atoms[0].operation == operation
        operands.extend(extent.atoms[0].operands if same else (extent,))
    kept = [
        extent
        for index, extent in enumerate(operands)
        if not any(
            _dominates(operation, other, extent) and (other != extent or place < index)
            for place, other in enumerate(operands)
            if place != index
        )
    ]
    if len(kept) == 1:
        return kept[0]
    return _derived(operation, *sorted(kept, key=lambda extent: (extent.is_static, extent.key)))


def _dominates(operation: str, one: Extent, other: Extent) -> bool:
    return one.at_least(other) if operation == "max" else other.at_least(one)


def _substitute(atom: Atom, replacements: Mapping[str, int | Extent]) -> Extent:
    if not atom.operation:
        return as_extent(replacements.get(atom.name, Extent(1, (atom,))))
    first, *rest = (operand.substitute(replacements) for operand in atom.operands)
    for operand in rest:
        match atom.operation:
            case "sum":
                first = first + operand
            case "floordiv":
                first = first // operand
            case "max":
                first = first.maximum(operand)
            case _:
                first = first.minimum(operand)
    return first
