"""Neighbouring axes merged into one, and one axis parted into several."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._sizes import shape_argument
from onemodel.operators.reshape import reshape
from onemodel.tensors.tensor import Tensor


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Axes ``start_dim`` to ``end_dim`` (inclusive) merged; a scalar becomes [1].

    Raises IndexError for an axis out of range, ValueError where start comes after end. Source:
    ``torch.flatten``; ONNX Reshape-5.
    """
    input = as_tensor("flatten", "input", input)
    rank = input._array.ndim
    if rank == 0:
        return reshape(input, (1,))
    first = normalize_dim("flatten", start_dim, rank)
    last = normalize_dim("flatten", end_dim, rank)
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} comes after end_dim {end_dim}")
    shape = input.shape
    merged: Any = 1
    for size in shape[first : last + 1]:
        merged = merged * size
    return reshape(input, (*shape[:first], merged, *shape[last + 1 :]))


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Axis ``dim`` parted into ``sizes``, of which one may be -1.

    Raises ValueError where the sizes do not multiply to the axis. Source: ``torch.unflatten``.
    """
    input = as_tensor("unflatten", "input", input)
    dim = normalize_dim("unflatten", dim, input.ndim)
    shape = input.shape
    parts = shape_argument("unflatten", (tuple(sizes),))
    if all(type(size) is int for size in (shape[dim], *parts)):
        # Worked out here: of a tensor without elements, reshape could not tell what -1 is.
        known = math.prod(size for size in parts if size != -1)
        if known and shape[dim] % known == 0:
            parts = tuple(shape[dim] // known if size == -1 else size for size in parts)
    return reshape(input, (*shape[:dim], *parts, *shape[dim + 1 :]))


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """``input`` in the shape of ``other``. Source: ``torch.Tensor.view_as``."""
    return reshape(input, as_tensor("view_as", "other", other).shape)


def _flattened(input: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> np.ndarray:
    last = end_dim % input.ndim
    return input.reshape(*input.shape[:start_dim], -1, *input.shape[last + 1 :])


OPERATOR = Composite("flatten", declaration=flatten, methods=("flatten",), cases=(
    Case((("batch", 3, 4),), {"start_dim": 1}, reference=_flattened),
    Case((("batch", "time", 4),), {"end_dim": 1}, reference=_flattened, name="two symbols"),
    Case((("batch", 2, 3),), reference=_flattened, name="all"),
    Case(((),), reference=lambda x: x.reshape(1), name="0-d"),
))  # fmt: skip

ALSO = (
    Composite("unflatten", declaration=unflatten, methods=("unflatten",), cases=(
        Case((("batch", 6, "time"),), {"dim": 1, "sizes": (2, -1)},
             reference=lambda x, dim, sizes: x.reshape(len(x), 2, 3, -1)),
    )),
    Composite("view_as", declaration=view_as, methods=("view_as", "reshape_as"), cases=(
        Case((("batch", 6), ("batch", 2, 3)), reference=lambda x, y: x.reshape(y.shape),
             gradient=False),
    )),
)  # fmt: skip
