"""Interleaved measurements: ours and a peer's in turn, process time, medians, one ratio."""

from __future__ import annotations

import gc
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

PEERS = ("numpy", "onnx", "onnxruntime", "anywidget", "torch")


@dataclass(frozen=True)
class Result:
    """``ours`` and ``peer`` in seconds per call; ``goal``: the ratio not to exceed."""

    name: str
    ours: float
    peer: float
    against: str
    goal: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.peer

    @property
    def met(self) -> bool:
        return self.goal is None or self.ratio <= self.goal


def measure(
    name: str,
    ours: Callable[[], object],
    peer: Callable[[], object],
    against: str,
    goal: float | None = None,
    *,
    rounds: int = 15,
    seconds: float = 0.02,
) -> Result:
    """Median process time of both, in alternating rounds of about ``seconds`` each."""
    counts = [_calls_in(function, seconds) for function in (ours, peer)]
    times: list[list[float]] = [[], []]
    enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for which, function in enumerate((ours, peer)):
                count = counts[which]
                start = time.process_time()
                for _ in range(count):
                    function()
                times[which].append((time.process_time() - start) / count)
    finally:
        if enabled:
            gc.enable()
    return Result(name, statistics.median(times[0]), statistics.median(times[1]), against, goal)


def _calls_in(function: Callable[[], object], seconds: float) -> int:
    """How many calls fill ``seconds``, at least one; the first call warms up."""
    function()
    start = time.perf_counter()
    function()
    once = max(time.perf_counter() - start, 1e-8)
    return max(1, min(100_000, round(seconds / once)))


def machine() -> str:
    """Python, processor and the versions of the peers that are installed."""
    found = [f"Python {platform.python_version()}", platform.machine()]
    for name in PEERS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def text(results: list[Result]) -> str:
    """A table for the terminal and for documents."""
    lines = ["| what | ours | peer | ratio | goal |", "|---|---|---|---|---|"]
    for r in results:
        goal = "" if r.goal is None else f"≤ {r.goal:g}{'' if r.met else ' **missed**'}"
        lines.append(
            f"| {r.name} | {_time(r.ours)} | {_time(r.peer)} {r.against} | {r.ratio:.2f} | {goal} |"
        )
    return "\n".join(lines)


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e6:.2g} µs"
