"""Other inputs to repeat a run on: other values, and other sizes of the symbols."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.graph.ir import Graph
from onemodel.tracing.model import TracedModel
from onemodel.tracing.value import Specialisation

_MOST_ELEMENTS = 1 << 24

_MOST_FLIPS = 16
_MOST_TABLES = 4
_SEARCHED = 1 << 11
_SEARCHED_BOTH = 1 << 6

_STEPS = ((1, 1), (1, -1), (2, 0), (1, 3), (3, 0), (1, 2), (1, 5), (4, 0), (1, 8), (1, 11))


def redraw(
    example: np.ndarray, shape: tuple[int, ...], generator: np.random.Generator
) -> np.ndarray:
    """Other values of the same kind: drawn from the example's own, floats jittered.

    Integers and bool are resampled, so that indices stay inside their tables.
    """
    if example.size == 0:
        return np.zeros(shape, example.dtype)
    drawn = example.ravel()[generator.integers(0, example.size, size=shape)]
    if example.dtype.kind not in "fV":
        return np.asarray(drawn, example.dtype)
    wide = np.asarray(drawn, np.float64)
    spread = float(np.nanstd(np.where(np.isfinite(wide), wide, np.nan))) if wide.size else 0.0
    noise = generator.normal(0.0, (spread or 1.0) * 0.3, size=shape)
    return np.asarray(wide + noise).astype(example.dtype)


def resized(
    first: TracedModel,
    feeds: Mapping[str, np.ndarray],
    sizes: Mapping[str, int],
    generator: np.random.Generator,
) -> dict[str, np.ndarray] | None:
    """Feeds at another assignment, or None where they would be too large."""
    resized = {}
    for value in first.inputs:
        shape = tuple(e.evaluate(sizes) for e in value.axes)
        if np.prod(shape, dtype=np.float64) > _MOST_ELEMENTS:
            return None
        resized[value.name] = redraw(feeds[value.name], shape, generator)
    return resized


def fixed_sizes(graph: Graph) -> set[int]:
    """Sizes that the model itself has: a symbol of the same size tells less."""
    fixed: set[int] = set()
    for value in graph.values():
        fixed.update(dim for dim in value.shape or () if isinstance(dim, int))
    for array in graph.initializers.values():
        if array.dtype == np.int64 and array.size <= 8:
            fixed.update(int(number) for number in array.ravel())
    return fixed


def assignments(symbols: Mapping[str, int], fixed: set[int]) -> Iterator[dict[str, int]]:
    """Other sizes, all different: a little more, the double, a little less ...

    First the ones that avoid the model's ``fixed`` sizes, then, for models that only run at
    multiples of something, those that do not; last, for models whose sizes are one apart, the
    same step for all.
    """
    later = []
    for sizes in _spread(symbols):
        if fixed.isdisjoint(sizes.values()):
            yield sizes
        else:
            later.append(sizes)
    yield from later
    if len(symbols) > 1:
        yield from ({symbol: size + step for symbol, size in symbols.items()} for step in (1, 2))


def _spread(symbols: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for scale, offset in _STEPS:
        sizes: dict[str, int] = {}
        for position, (symbol, size) in enumerate(symbols.items()):
            wanted = max(2, size * scale + offset * (1 + position))
            while wanted in sizes.values():
                wanted += size if scale > 1 else 1
            sizes[symbol] = wanted
        if sizes != dict(symbols):
            yield sizes


def flips(model: TracedModel, known: set[Any]) -> Iterator[dict[str, int]]:
    """For every recorded comparison of a size, an assignment at which it comes out otherwise.

    ``known`` holds the comparisons that were flipped before; new ones are entered.
    """
    for spent in model.specialisations:
        if spent.other is None or not isinstance(spent.outcome, (bool, np.bool_)):
            continue
        place = spent.site.place if spent.site is not None else ""
        key = (place, spent.operation, spent.extent, spent.other)
        if key in known or len(known) >= _MOST_FLIPS:
            continue
        known.add(key)
        found = _flip(spent, model.symbols)
        if found is not None:
            yield found


def beyond_tables(model: TracedModel) -> Iterator[dict[str, int]]:
    """For every slice of a fixed axis by a size, an assignment that runs beyond the axis.

    Axis rules take it that ``table[:t]`` has t rows. Python gives the rows there are.
    """
    seen: list[dict[str, int]] = []
    for bound, limit in model.table_bounds:
        found = _exceeding(bound, limit, model.symbols)
        if found is not None and found not in seen and len(seen) < _MOST_TABLES:
            seen.append(found)
            yield found


def _exceeding(bound: Extent, limit: int, symbols: Mapping[str, int]) -> dict[str, int] | None:
    for symbol in sorted(bound.symbols()):
        for candidate in (limit + 1, limit + 2, limit + 3, 2 * limit + 2):
            sizes = {**symbols, symbol: candidate}
            if len(set(sizes.values())) == len(sizes) and bound.evaluate(sizes) > limit:
                return sizes
    return None


def _flip(spent: Specialisation, symbols: Mapping[str, int]) -> dict[str, int] | None:
    """Sizes at which a comparison comes out otherwise; 1 only where nothing else does it."""
    if spent.other is None:
        return None
    taking_part = sorted(spent.extent.symbols() | spent.other.symbols())
    for symbol in taking_part:
        at = {**symbols, symbol: 0}
        targets = {spent.other.evaluate(at), spent.extent.evaluate(at)} | set(symbols.values())
        near = [t + d for t in sorted(targets) for d in (-1, 0, 1, 2) if 2 <= t + d < _SEARCHED]
        for candidate in [*near, 2, symbols[symbol] * 2, symbols[symbol] + 1]:
            sizes = {**symbols, symbol: candidate}
            if _flips(spent, sizes):
                return sizes
    for sizes in _search(taking_part, symbols):
        if _flips(spent, sizes):
            return sizes
    return None


def _search(names: Sequence[str], symbols: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """All sizes of one symbol, powers of two beyond, then 1, then sizes of two symbols.

    ``batch % 97 == 0`` and ``a * b == 35`` say nowhere near which size they come out otherwise.
    """
    far = [1 << power for power in range(11, 25)]
    for name in names:
        yield from ({**symbols, name: size} for size in itertools.chain(range(2, _SEARCHED), far))
    yield from ({**symbols, name: 1} for name in names)
    for one, two in itertools.combinations(names, 2):
        for first, second in itertools.product(range(2, _SEARCHED_BOTH), repeat=2):
            yield {**symbols, one: first, two: second}


def _flips(spent: Specialisation, sizes: Mapping[str, int]) -> bool:
    return len(set(sizes.values())) == len(sizes) and comes_out(spent, sizes) is False


def comes_out(spent: Specialisation, sizes: Mapping[str, int]) -> bool | None:
    """Whether a recorded comparison comes out as it did, at ``sizes``; None: no comparison."""
    compare = _COMPARISONS.get(spent.operation)
    if compare is None or spent.other is None:
        return None
    return compare(spent.extent.evaluate(sizes), spent.other.evaluate(sizes)) == spent.outcome


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}
