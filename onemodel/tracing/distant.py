"""Sizes far from the example's, to try where a size became a plain number.

What a model does with a plain number leaves no trace: ``if len(x) > 30`` looks like no branch
at all. The numbers that stand in the code around are where it may come out otherwise, and a few
sizes of other magnitudes are tried for what is computed from it (``math.log2(len(x)) > 5``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from types import CodeType, FrameType
from typing import Any

from onemodel.tracing import sites
from onemodel.tracing.model import TracedModel
from onemodel.tracing.value import Specialisation

LADDER = (19, 67, 259, 1031)
"""Primes of other magnitudes."""

_MOST_ELEMENTS = 1 << 20
_MOST_RUNS = 16
_MOST_HINTS = 32
_LARGEST = 1 << 12
_FRAMES = 4


def hints(frame: FrameType | None, stop: CodeType | None) -> tuple[int, ...]:
    """Numbers that stand in the user's code around ``frame``: constants, variables, attributes."""
    found: dict[int, None] = {}
    for _ in range(_FRAMES):
        frame = sites.user_frame(frame)
        if frame is None or frame.f_code is stop:
            break
        for value in _values(frame):
            _collect(value, found)
        if frame.f_code.co_name == "<module>":
            break
        frame = frame.f_back
    return tuple(found)[:_MOST_HINTS]


def _values(frame: FrameType) -> Iterator[Any]:
    code, local = frame.f_code, frame.f_locals
    yield from code.co_consts
    if code.co_name == "<module>":
        return  # its variables are those of the whole program
    yield from (value for name, value in local.items() if name != "self")
    owner = getattr(local.get("self"), "__dict__", {})
    for name in code.co_names:
        if name in owner:
            yield owner[name]
        elif name in frame.f_globals:
            yield frame.f_globals[name]


def _collect(value: Any, found: dict[int, None], depth: int = 0) -> None:
    """Enter the sizes that ``value`` may stand for."""
    kind = type(value)
    if kind in (int, float):
        if 2 <= value <= _LARGEST:
            found.setdefault(math.floor(value))
    elif kind is str:
        if len(value) <= 4 and value.isdecimal():
            _collect(int(value), found)
    elif kind in (tuple, list, set, frozenset, dict, range):
        _collect(len(value), found)
        if depth < 2 and len(value) <= _MOST_HINTS:
            for item in list(value):
                _collect(item, found, depth + 1)


def far_sizes(model: TracedModel) -> Iterator[dict[str, int]]:
    """Assignments at which code that took a size as a plain number may act otherwise."""
    runs = 0
    seen: list[dict[str, int]] = [dict(model.symbols)]
    for spent in model.specialisations:
        if spent.other is not None:
            continue
        for sizes in _around(spent, model.symbols):
            if sizes in seen or runs >= _MOST_RUNS or not _small(model, sizes):
                continue
            seen.append(sizes)
            runs += 1
            yield sizes


def _around(spent: Specialisation, symbols: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """First other magnitudes, then the numbers of the code and the next on their far side."""
    for symbol in sorted(spent.extent.symbols()):
        wanted = [(size, size) for size in LADDER]
        for number in spent.hints:
            beyond = number + 1 if number >= spent.value else number - 1
            wanted += [(number, 0), (beyond, 0)]
        for number, size in wanted:
            found = size or _reaching(spent, symbols, symbol, number)
            sizes = {**symbols, symbol: found}
            if found >= 2 and len(set(sizes.values())) == len(sizes):
                yield sizes


def _reaching(spent: Specialisation, symbols: Mapping[str, int], symbol: str, number: int) -> int:
    """The size of ``symbol`` at which the spent size is ``number``; 0 where none is found."""
    if spent.extent.evaluate({**symbols, symbol: number}) == number:
        return number
    for size in range(2, 2 * number + 2):
        if spent.extent.evaluate({**symbols, symbol: size}) == number:
            return size
    return 0


def _small(model: TracedModel, sizes: Mapping[str, int]) -> bool:
    count = sum(math.prod(e.evaluate(sizes) for e in value.axes) for value in model.inputs)
    return count <= _MOST_ELEMENTS
