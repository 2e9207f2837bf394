"""ONNX OneHotEncoder (ai.onnx.ml, since 1): categories as rows of zeros with a one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.kernels._cast import exact_cast

NODE_TYPE = "OneHotEncoder"
DOMAIN = "ai.onnx.ml"


def fast(
    x: np.ndarray,
    *,
    cats_int64s: Sequence[int] | None = None,
    cats_strings: Sequence[str] | None = None,
    zeros: int = 1,
) -> np.ndarray:
    """float32 (*x.shape, categories); unknown values give zeros, or are refused with zeros=0.

    Raises:
        ValueError: for an unknown value with ``zeros=0``.
    """
    items = x if x.dtype.kind in "OU" else x.astype(np.int64)
    return _encoded(items, cats_int64s, cats_strings, zeros)


def exact(
    x: np.ndarray,
    *,
    cats_int64s: Sequence[int] | None = None,
    cats_strings: Sequence[str] | None = None,
    zeros: int = 1,
) -> np.ndarray:
    """As ``fast``; a number that is NaN counts as 0."""
    items = x if x.dtype.kind in "OU" else exact_cast(x, np.dtype(np.int64))
    return _encoded(items, cats_int64s, cats_strings, zeros)


def _encoded(
    x: np.ndarray,
    cats_int64s: Sequence[int] | None,
    cats_strings: Sequence[str] | None,
    zeros: int,
) -> np.ndarray:
    categories: Sequence[Any] = cats_strings if x.dtype.kind in "OU" else cats_int64s or ()  # type: ignore[assignment]
    places = {category: place for place, category in enumerate(categories)}
    indices = [places.get(item, -1) for item in x.reshape(-1).tolist()]
    if not zeros and -1 in indices:
        raise ValueError("OneHotEncoder met a value that is no category; zeros=1 would allow it")
    result = np.zeros((len(indices), len(categories)), np.float32)
    known = [row for row, place in enumerate(indices) if place >= 0]
    result[known, [indices[row] for row in known]] = 1
    return result.reshape(*x.shape, len(categories))


VERSIONS = {1: fast}
EXACT = {1: exact}
