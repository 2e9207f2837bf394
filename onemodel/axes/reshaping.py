"""The reshape rule: which output axis carries which symbol.

Sizes that arrive as extents are exact. A plain integer may be a literal of the model or a size
that lost its symbol; the example's numbers decide then, by the grouping rule: both shapes are split
into groups of equal element count, and in each group an output axis takes the atoms whose example
sizes multiply to it, exact products before divisors.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onemodel.axes.extent import Axes, AxesError, Extent, axes_text, evaluate_axes
from onemodel.axes.multiples import as_multiples

MAX_CANDIDATES = 4096
"""How many ways to place atoms are tried before the reshape is refused."""

Target = Sequence[int | Extent]


@dataclass(frozen=True)
class ReshapeSolution:
    """Axes of a reshape, and which plain integers were taken for symbolic sizes.

    Attributes:
        axes: the output axes; at the example they have the sizes asked for.
        assumed: pairs of output axis and extent where the target had a plain integer and the
            solution has a symbolic size. The grouping rule guessed these.
    """

    axes: Axes
    assumed: tuple[tuple[int, Extent], ...] = ()


def fresh_sizes(symbols: Iterable[str], avoid: Iterable[int] = ()) -> dict[str, int]:
    """Example sizes to trace with instead: distinct primes from 3 on, none in ``avoid``."""
    taken = set(avoid)
    result: dict[str, int] = {}
    candidate = 3
    for name in sorted(set(symbols)):
        while candidate in taken or any(candidate % n == 0 for n in range(2, candidate)):
            candidate += 1
        result[name] = candidate
        taken.add(candidate)
    return result


def reshape(axes: Axes, target: Target, assignment: Mapping[str, int]) -> Axes:
    """Axes of a reshape to ``target``: sizes (extents where known) and at most one -1.

    See :func:`solve_reshape`.
    """
    return solve_reshape(axes, target, assignment).axes


def solve_reshape(axes: Axes, target: Target, assignment: Mapping[str, int]) -> ReshapeSolution:
    """Which extents the axes of a reshape have; ``assignment`` is the example's.

    Raises:
        AxesError: OM403 where the element counts are not equal at every size, OM407 where two
            solutions fit the example; the message lists both and proposes other sizes.
    """
    target = [_entry(size) for size in target]
    numbers = _example_shape(axes, target, assignment)
    total = _product(axes)
    literal = _literal(total, target)
    if total.is_static and literal is not None:
        return ReshapeSolution(literal)
    if literal is not None and _all_symbols_placed(total, target):
        return ReshapeSolution(literal)
    candidates = _candidates(axes, target, numbers, assignment) if 0 not in numbers else []
    if literal is not None:
        for candidate in candidates:
            if candidate != literal and _takes_literal_for_symbol(target, candidate, numbers):
                raise _ambiguous(axes, target, (literal, candidate), assignment)
        return ReshapeSolution(literal)
    if not candidates:
        raise _inexpressible(axes, target, total)
    if len(candidates) > 1:
        raise _ambiguous(axes, target, candidates[:2], assignment)
    (chosen,) = candidates
    assumed = tuple(
        (place, extent)
        for place, (asked, extent) in enumerate(zip(target, chosen, strict=True))
        if isinstance(asked, int) and asked != -1 and not extent.is_static
    )
    return ReshapeSolution(chosen, assumed)


def _entry(size: Any) -> int | Extent:
    """An extent where the size has one, else a plain integer."""
    extent = getattr(size, "extent", size)
    return extent if isinstance(extent, Extent) else operator.index(size)


def _product(extents: Iterable[int | Extent]) -> Extent:
    result = Extent(1)
    for extent in extents:
        result = result * extent
    return result


def _example_shape(axes: Axes, target: Target, assignment: Mapping[str, int]) -> list[int]:
    """The output shape in the example run, -1 resolved."""
    count = math.prod(evaluate_axes(axes, assignment))
    numbers = [size.evaluate(assignment) if isinstance(size, Extent) else size for size in target]
    unknown = [place for place, size in enumerate(target) if size == -1]
    if len(unknown) > 1:
        raise AxesError(f"the shape {axes_text(target)} leaves more than one size open")
    if unknown:
        known = math.prod(size for place, size in enumerate(numbers) if place != unknown[0])
        numbers[unknown[0]] = count // known if known else 0
    if math.prod(numbers) != count or min(numbers, default=0) < 0:
        raise AxesError(
            f"{axes_text(axes)} has {count} elements in the example and cannot be reshaped to "
            f"{axes_text(target)}"
        )
    return numbers


def _literal(total: Extent, target: Target) -> Axes | None:
    """The solution that takes every plain integer at its word, if the counts are provably equal."""
    known = _product(size for size in target if size != -1)
    if -1 not in target:
        return tuple(map(_extent, target)) if known == total else None
    if known == 0:
        return None
    rest = total // known
    if rest * known != total:
        return None
    return tuple(rest if size == -1 else _extent(size) for size in target)


def _extent(size: int | Extent) -> Extent:
    return size if isinstance(size, Extent) else Extent(size)


def _all_symbols_placed(total: Extent, target: Target) -> bool:
    """Whether the sizes given as extents account for every symbol of the input."""
    placed = _product(size for size in target if isinstance(size, Extent))
    if placed == 0:
        return True
    rest = total // placed
    return rest.is_static and rest * placed == total


def _takes_literal_for_symbol(target: Target, candidate: Axes, numbers: Sequence[int]) -> bool:
    """Whether a plain integer of the target equals a symbol's example size exactly."""
    return any(
        isinstance(asked, int) and asked != -1 and number > 1 and extent.coefficient == 1
        for asked, extent, number in zip(target, candidate, numbers, strict=True)
        if not extent.is_static
    )


# -- the grouping rule -----------------------------------------------------------------------


def _candidates(
    axes: Axes, target: Target, numbers: Sequence[int], assignment: Mapping[str, int]
) -> list[Axes]:
    """The best solutions of the grouping rule; more than one where the rule cannot tell."""
    sizes = evaluate_axes(axes, assignment)
    groups = _groups(sizes, numbers)
    solutions = [
        _solve_group([axes[i] for i in inputs], outputs, target, numbers, assignment)
        for inputs, outputs in groups
    ]
    if not all(solutions):
        # The extents given do not follow the groups: look at the shape as a whole.
        everything = list(range(len(target)))
        solutions = [_solve_group(list(axes), everything, target, numbers, assignment)]
        groups = [(list(range(len(axes))), everything)]
    if math.prod(map(len, solutions)) > MAX_CANDIDATES:
        raise AxesError("too many ways to distribute the symbolic sizes over the new shape")
    results: list[Axes] = []
    for combination in itertools.product(*solutions):
        result = [Extent(0)] * len(target)
        for (_, outputs), extents in zip(groups, combination, strict=True):
            for place, extent in zip(outputs, extents, strict=True):
                result[place] = extent
        if tuple(result) not in results:
            results.append(tuple(result))
    return results


def _groups(sizes: Sequence[int], numbers: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Both shapes split where their running element counts meet; ones stay with what precedes."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(sizes) or j < len(numbers):
        inputs, outputs = [], []
        left = right = 1
        while not inputs or not outputs or left != right:
            take_input = i < len(sizes) and (left <= right or j == len(numbers))
            if take_input and not (inputs and left == right and not outputs and j < len(numbers)):
                inputs.append(i)
                left *= sizes[i]
                i += 1
            elif j < len(numbers):
                outputs.append(j)
                right *= numbers[j]
                j += 1
            else:
                break
        while i < len(sizes) and sizes[i] == 1:
            inputs.append(i)
            i += 1
        while j < len(numbers) and numbers[j] == 1:
            outputs.append(j)
            j += 1
        groups.append((inputs, outputs))
    return groups


def _solve_group(
    inputs: Sequence[Extent],
    outputs: Sequence[int],
    target: Target,
    numbers: Sequence[int],
    assignment: Mapping[str, int],
) -> list[Axes]:
    """The best ways to give the output axes of one group the atoms of its input axes."""
    total = _product(inputs)
    given = {place: size for place in outputs if isinstance(size := target[place], Extent)}
    known = _product(given.values())
    rest = total // known if known != 0 else total
    if known * rest != total:
        return []
    free = [place for place in outputs if place not in given]
    if len(free) ** len(rest.atoms) > MAX_CANDIDATES:
        raise AxesError("too many ways to distribute the symbolic sizes over the new shape")
    scored: dict[Axes, int] = {}
    for places in itertools.product(free, repeat=len(rest.atoms)):
        taken = {place: Extent(1) for place in free}
        for place, atom in zip(places, rest.atoms, strict=True):
            taken[place] = taken[place] * Extent(1, (atom,))
        exact = 0
        for place, extent in taken.items():
            value = extent.evaluate(assignment)
            if value == 0 or numbers[place] % value:
                break
            exact += numbers[place] == value and not extent.is_static
            taken[place] = extent * (numbers[place] // value)
        else:
            scored[tuple((given | taken)[place] for place in outputs)] = exact
    scored = {axes: exact for axes, exact in scored.items() if _product(axes) == total}
    best = max(scored.values(), default=0)
    return [axes for axes, exact in scored.items() if exact == best]


# -- refusals --------------------------------------------------------------------------------


def _inexpressible(axes: Axes, target: Target, total: Extent) -> AxesError:
    known = _product(size for size in target if size != -1)
    return AxesError(
        f"the reshape of {axes_text(axes)} to {axes_text(target)} keeps the element count at the "
        f"example's sizes only: {total} elements are not those of the new shape at every size",
        extents=axes,
        rewrites=(
            *(() if -1 in target else as_multiples(total, known)),
            ("take the sizes from the tensor's shape", "b = x.shape[0]; x.reshape(b, -1)"),
            ("leave the symbolic axis open", "x.reshape(-1, 8)"),
        ),
    )


def _ambiguous(
    axes: Axes, target: Target, solutions: Sequence[Axes], assignment: Mapping[str, int]
) -> AxesError:
    symbols = sorted(set().union(*(extent.symbols() for extent in axes)))
    static = [extent.value for extent in (*axes, *map(_extent, target)) if extent.is_static]
    fresh = fresh_sizes(symbols, {*static, *assignment.values()})
    proposal = ", ".join(f"{name}={size}" for name, size in fresh.items())
    here = ", ".join(f"{name}={assignment[name]}" for name in symbols)
    first, second = map(axes_text, solutions)
    return AxesError(
        f"the reshape of {axes_text(axes)} to {axes_text(target)} fits two results at {here}: "
        f"{first} and {second}",
        code="OM407",
        extents=axes,
        rewrites=(
            (f"trace with other example sizes: {proposal}", ""),
            ("take the sizes from the tensor's shape", "b = x.shape[0]; x.reshape(b, -1)"),
        ),
    )


__all__ = [
    "ReshapeSolution",
    "fresh_sizes",
    "reshape",
    "solve_reshape",
]
