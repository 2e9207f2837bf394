"""Each entry of an axis several times, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.axes.size import Size
from onemodel.operators._case import Case
from onemodel.operators._operator import Composite, Refusal
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.clone import clone
from onemodel.operators.expand import expand
from onemodel.operators.gather import index_tensor
from onemodel.operators.index import look_up
from onemodel.operators.reshape import reshape
from onemodel.operators.unsqueeze import unsqueeze
from onemodel.tensors.tensor import Tensor

_REFUSAL = Refusal(
    "OM112",
    "how long the result is depends on the values of the repeats",
    (("repeat every entry equally often", "x.repeat_interleave(2, 0)"),),
)


def repeat_interleave(input: Tensor, repeats: Any, dim: int | None = None) -> Tensor:
    """Every entry of axis ``dim`` ``repeats`` times in a row; flattened first without ``dim``.

    ``repeats``: an integer (or a size of a traced tensor), or one count per entry; counts that
    are traced are refused, and so are counts along a symbolic axis. Raises ValueError where
    counts do not fit the axis. Source: ``torch.repeat_interleave``; ONNX Expand-8 and Reshape-5.
    """
    input = as_tensor("repeat_interleave", "input", input)
    if dim is None:
        input, dim = reshape(input, -1), 0
    dim = normalize_dim("repeat_interleave", dim, input.ndim)
    if isinstance(repeats, (int, np.integer, Size)):
        shape = input.shape
        wide = expand(unsqueeze(input, dim + 1), (*shape[: dim + 1], repeats, *shape[dim + 1 :]))
        result = reshape(wide, (*shape[:dim], shape[dim] * repeats, *shape[dim + 1 :]))
        return clone(result) if result._view else result  # a copy at every size, as PyTorch's
    return _by_counts(input, as_counts(repeats), dim)


def as_counts(repeats: Any) -> Tensor:
    """Counts per entry as an integer tensor."""
    if isinstance(repeats, (list, tuple)):
        repeats = np.asarray(repeats, np.int64)
    return index_tensor("repeat_interleave", repeats)


def _by_counts(input: Tensor, repeats: Tensor, dim: int) -> Tensor:
    if repeats._mark is not None:
        repeats._mark.on_refuse("repeat_interleave", _REFUSAL)
    if input._mark is not None and isinstance(input.shape[dim], Size):
        input._mark.on_refuse("repeat_interleave", _REFUSAL)
    counts, size = repeats._array, input._array.shape[dim]
    if counts.size == 1:
        counts = np.full(size, counts.reshape(()))
    if counts.shape != (size,) or (counts < 0).any():
        raise ValueError(
            f"repeat_interleave: counts of shape {list(repeats._array.shape)} do not fit axis "
            f"{dim} of size {size}, or are negative"
        )
    return look_up(input, [Tensor(np.repeat(np.arange(size), counts))], (dim,))


def reference(input: np.ndarray, repeats: Any, dim: int | None = None) -> np.ndarray:
    return np.repeat(input, repeats, dim)


CASES = (
    Case((("batch", 3),), {"repeats": 2, "dim": 1}, reference=reference),
    Case((("batch", 3),), {"repeats": 3, "dim": 0}, reference=reference, name="symbolic axis"),
    Case((("batch", 3),), {"repeats": 2}, reference=reference, name="flat"),
    Case((("batch", 3),), {"repeats": [2, 0, 1], "dim": 1}, reference=reference, name="counts"),
)

OPERATOR = Composite(
    "repeat_interleave",
    declaration=repeat_interleave,
    methods=("repeat_interleave",),
    cases=CASES,
)
