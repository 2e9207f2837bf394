"""What is told of an array without showing it: range, moments, special numbers, a histogram."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

BINS = 24
_SAMPLE = 1_000_000


@dataclass(frozen=True)
class Statistics:
    """Facts of one array; ``histogram`` counts finite elements in equal bins of [low, high].

    Arrays above a million elements are sampled with a fixed stride for the
    histogram and the moments; ``sampled`` says so.
    """

    dtype: str
    shape: tuple[int, ...]
    low: float | None
    high: float | None
    mean: float | None
    deviation: float | None
    zeros: int
    nans: int
    infinities: int
    histogram: tuple[int, ...]
    sampled: bool = False

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)


def statistics(array: Any) -> Statistics:
    """Facts of ``array``; of strings and objects, dtype and shape alone."""
    array = np.asarray(array)
    shape = tuple(int(size) for size in array.shape)
    empty = Statistics(str(array.dtype), shape, None, None, None, None, 0, 0, 0, ())
    if array.size == 0 or (array.dtype.kind in "OSUMmV" and not _is_small_float(array)):
        return empty
    flat = array.reshape(-1)
    sampled = flat.size > _SAMPLE
    if sampled:
        flat = flat[:: flat.size // _SAMPLE + 1]
    if flat.dtype.kind == "c":
        flat = np.abs(flat)
    numbers = flat.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    counts: tuple[int, ...] = ()
    low = high = mean = deviation = None
    if finite.size:
        low, high = float(finite.min()), float(finite.max())
        with np.errstate(over="ignore", invalid="ignore"):
            mean, deviation = _finite(finite.mean()), _finite(finite.std())
            counts = _histogram(finite, low, high)
    return Statistics(
        dtype=str(array.dtype),
        shape=shape,
        low=low,
        high=high,
        mean=mean,
        deviation=deviation,
        zeros=int((numbers == 0).sum()),
        nans=int(np.isnan(numbers).sum()),
        infinities=int(np.isinf(numbers).sum()),
        histogram=counts,
        sampled=sampled,
    )


def _is_small_float(array: np.ndarray) -> bool:
    # ml_dtypes registers bfloat16 and the 8-bit floats with kind "V".
    return array.dtype.name.startswith(("bfloat", "float", "int", "uint"))


def _finite(number: np.floating) -> float | None:
    return float(number) if np.isfinite(number) else None


def _histogram(finite: np.ndarray, low: float, high: float) -> tuple[int, ...]:
    if not np.isfinite(high - low) or high == low:
        return (int(finite.size),)
    counts, _edges = np.histogram(finite, bins=BINS, range=(low, high))
    return tuple(int(count) for count in counts)
