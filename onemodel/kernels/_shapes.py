"""Axes and sizes as ONNX spells them: -1, 0, negative axes, tensors of integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def integers(values: np.ndarray | Sequence[int] | int) -> list[int]:
    """A tensor, list or scalar of integers as a list of Python ints."""
    return [int(value) for value in np.asarray(values).reshape(-1)]


def normalized(axis: int, rank: int) -> int:
    """``axis`` counted from the front.

    Raises:
        ValueError: it does not lie in ``[-rank, rank)``.
    """
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} does not exist in an array of rank {rank}")
    return axis + rank if axis < 0 else axis


def normalized_axes(
    axes: np.ndarray | Sequence[int] | None, rank: int, default: Sequence[int] = ()
) -> list[int]:
    """Axes counted from the front; ``default`` where they are absent."""
    if axes is None:
        return list(default)
    return [normalized(axis, rank) for axis in integers(axes)]
