"""How long each step of a plan takes, and how large its result is."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from onemodel.session.program import Program


@dataclass(frozen=True)
class NodeProfile:
    """One step: the value it makes, its node type, seconds, bytes, shape and dtype.

    ``place`` is where the user's source made the node, or "". ``shape`` is None for what is
    no tensor.
    """

    value: str
    node: str
    op_type: str
    seconds: float
    bytes: int
    shape: tuple[int, ...] | None
    dtype: str
    place: str = ""


def profile_program(
    program: Program, arrays: Sequence[Any], repeat: int = 1
) -> tuple[NodeProfile, ...]:
    """One :class:`NodeProfile` per step of ``program`` that makes a value."""
    times: list[list[float]] = [[] for _ in program.steps]
    results: dict[int, Any] = {}
    for _ in range(max(1, repeat)):
        steps = tuple(
            (_timed(step[0], times[index], results, index), *step[1:])
            for index, step in enumerate(program.steps)
        )
        replace(program, steps=steps).run(arrays)
    return tuple(_rows(program, times, results))


def _timed(
    function: Callable[..., Any], times: list[float], results: dict[int, Any], index: int
) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        times.append(time.perf_counter() - start)
        results[index] = _measure(result)
        return result

    return call


def _measure(result: Any) -> tuple[int, tuple[int, ...] | None, str]:
    if isinstance(result, np.ndarray | np.generic):
        return result.nbytes, result.shape, result.dtype.name
    if isinstance(result, list | tuple):
        return sum(_measure(item)[0] for item in result), None, "sequence"
    return 0, None, ""


def _rows(
    program: Program, times: list[list[float]], results: dict[int, Any]
) -> Iterator[NodeProfile]:
    pending = 0.0
    for index, (node, value) in enumerate(zip(program.nodes, program.values, strict=True)):
        seconds = statistics.median(times[index])
        if value is None:  # the bundle of a node with several outputs: told with the first
            pending = seconds
            continue
        size, shape, dtype = results[index]
        site = None if node.origin is None else node.origin.site
        yield NodeProfile(
            value.name,
            node.name,
            node.op_type,
            seconds + pending,
            size,
            shape,
            dtype,
            "" if site is None else site.place,
        )
        pending = 0.0
