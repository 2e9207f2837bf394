"""Coordinates of a grid from those of its axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators.expand import expand
from onemodel.operators.reshape import reshape
from onemodel.tensors.tensor import Tensor


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    """One tensor per axis, each of the shape of the grid, holding that axis's coordinates.

    ``tensors``: 1-D (or 0-d), one by one or as one sequence; ``indexing``: "ij" (rows first) or
    "xy" (the first two axes exchanged). Raises ValueError for another indexing or more axes.
    Source: ``torch.meshgrid``.
    """
    if indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: indexing must be 'ij' or 'xy', not {indexing!r}")
    if len(tensors) == 1 and isinstance(tensors[0], (tuple, list)):
        tensors = tuple(tensors[0])
    lines = [reshape(as_tensor("meshgrid", "tensors", t), -1) for t in tensors]
    if any(isinstance(t, Tensor) and t.ndim > 1 for t in tensors):
        raise ValueError("meshgrid: the coordinates of an axis have one axis themselves")
    order = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        order[:2] = [1, 0]
    size: list[Any] = [None] * len(lines)
    for position, line in zip(order, lines, strict=True):
        size[position] = line.shape[0]
    grids = []
    for position, line in zip(order, lines, strict=True):
        shape = [-1 if axis == position else 1 for axis in range(len(lines))]
        grids.append(expand(reshape(line, *shape), *size))
    return tuple(grids)


CASES = (
    Case(
        (("rows",), ("columns",)),
        reference=lambda *x: np.meshgrid(*x, indexing="ij"),
    ),
    Case(
        (("rows",), (3,), ("columns",)),
        {"indexing": "xy"},
        reference=lambda *x, indexing: np.meshgrid(*x, indexing=indexing),
        name="xy",
    ),
)

OPERATOR = Composite("meshgrid", declaration=meshgrid, cases=CASES)
