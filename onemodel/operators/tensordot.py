"""Products of two tensors, summed over several axes at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.matmul import matmul
from onemodel.operators.permute import permute
from onemodel.operators.reshape import reshape
from onemodel.tensors.tensor import Tensor


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    """The sum of products over ``dims``: the last of ``a`` with the first of ``b``, or two lists.

    Shape: the other axes of ``a``, then those of ``b``. Raises ValueError where the axes differ
    in number or size. Source: ``torch.tensordot``; ONNX MatMul-1.
    """
    a, b = as_tensor("tensordot", "a", a), as_tensor("tensordot", "b", b)
    left, right = _axes(a, b, dims)
    kept_left = [dim for dim in range(a.ndim) if dim not in left]
    kept_right = [dim for dim in range(b.ndim) if dim not in right]
    sizes_a, sizes_b = a.shape, b.shape
    rows = reshape(
        permute(a, kept_left + left),
        (_product(sizes_a, kept_left), _product(sizes_a, left)),
    )
    columns = reshape(
        permute(b, right + kept_right),
        (_product(sizes_b, right), _product(sizes_b, kept_right)),
    )
    shape = [sizes_a[dim] for dim in kept_left] + [sizes_b[dim] for dim in kept_right]
    return reshape(matmul(rows, columns), shape)


def _axes(a: Tensor, b: Tensor, dims: Any) -> tuple[list[int], list[int]]:
    if isinstance(dims, int):
        if not 0 <= dims <= min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: {dims} axes of {a.ndim} and {b.ndim}")
        left, right = list(range(a.ndim - dims, a.ndim)), list(range(dims))
    else:
        given = [[d] if isinstance(d, int) else list(d) for d in dims]
        if len(given) != 2 or len(given[0]) != len(given[1]):
            raise ValueError("tensordot: dims must be two lists of equal length")
        left = [normalize_dim("tensordot", dim, a.ndim) for dim in given[0]]
        right = [normalize_dim("tensordot", dim, b.ndim) for dim in given[1]]
    one = [a._array.shape[dim] for dim in left]
    two = [b._array.shape[dim] for dim in right]
    if one != two:
        raise ValueError(f"tensordot: axes of sizes {one} and {two} cannot be summed together")
    return left, right


def _product(sizes: Any, dims: list[int]) -> Any:
    count: Any = 1
    for dim in dims:
        count = count * sizes[dim]
    return count


def reference(a: np.ndarray, b: np.ndarray, dims: Any = 2) -> np.ndarray:
    return np.tensordot(a.astype(np.float64), b.astype(np.float64), dims)


OPERATOR = Composite("tensordot", declaration=tensordot, cases=(
    Case((("batch", 3, 4), (3, 4, 2)), reference=reference),
    Case((("batch", 3, "time"), (5, 3)), {"dims": ([1], [1])}, reference=reference, name="lists"),
    Case((("batch", 3), (2, 4)), {"dims": 0}, reference=reference, name="outer"),
))  # fmt: skip
