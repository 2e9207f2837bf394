"""Where an affine map of the output's pixels lies in the input, for grid_sample."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.operators._case import Case
from onemodel.operators._operator import Composite
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.operators._spatial import check_floating
from onemodel.operators.arange import arange
from onemodel.operators.expand import expand
from onemodel.operators.matmul import matmul
from onemodel.operators.ones import ones
from onemodel.operators.reshape import reshape
from onemodel.operators.stack import stack
from onemodel.operators.to import to
from onemodel.operators.transpose import transpose
from onemodel.tensors.tensor import Tensor


def affine_grid(theta: Tensor, size: Any, align_corners: bool = False) -> Tensor:
    """Coordinates in [-1, 1] (x first) of each output pixel under ``theta``.

    Shapes: theta [N, 2, 3] with size (N, C, H, W) -> [N, H, W, 2], or [N, 3, 4] with
    (N, C, D, H, W) -> [N, D, H, W, 3]. With ``align_corners`` -1 and 1 are the centres of the
    end pixels, else their outer edges. Raises ValueError for shapes that do not fit.
    Source: ``torch.nn.functional.affine_grid``.
    """
    theta = as_tensor("affine_grid", "theta", theta)
    check_floating("affine_grid", theta=theta)
    sizes = shape_argument("affine_grid", (tuple(size),))
    rank = len(sizes) - 2
    if rank not in (2, 3) or theta._array.shape[1:] != (rank, rank + 1):
        raise ValueError(
            f"affine_grid: expected theta [N, 2, 3] with size (N, C, H, W) or [N, 3, 4] with "
            f"(N, C, D, H, W), not {list(theta._array.shape)} with {len(sizes)} sizes"
        )
    spatial = sizes[2:]
    columns = []
    for i in reversed(range(rank)):
        line = _coordinates(spatial[i], theta.dtype, align_corners)
        shape = [1] * rank
        shape[i] = spatial[i]
        columns.append(expand(reshape(line, shape), spatial))
    columns.append(ones(spatial, dtype=theta.dtype))
    count = math.prod(spatial[1:], start=spatial[0])
    base = reshape(stack(columns, -1), (1, count, rank + 1))
    return reshape(matmul(base, transpose(theta, 1, 2)), (theta.shape[0], *spatial, rank))


def _coordinates(size: Any, dtype: np.dtype, align_corners: bool) -> Tensor:
    place = to(arange(size), dtype)
    if not align_corners:
        return (place * 2 + 1) / to(as_tensor("affine_grid", "size", size), dtype) - 1
    # One pixel alone lies in the middle, as in PyTorch.
    if not hasattr(size, "extent"):
        return place * (2 / (size - 1)) - 1 if size > 1 else place * 0
    last = to(as_tensor("affine_grid", "size", size - 1), dtype)
    return place * 2 / last - 1


def reference(theta: np.ndarray, size: Any, align_corners: bool = False) -> np.ndarray:
    spatial, rank = size[2:], len(size) - 2
    result = np.empty((len(theta), *spatial, rank))
    for place in np.ndindex(*spatial):
        point = []
        for p, n in zip(place[::-1], spatial[::-1], strict=True):
            edge = (2 * p / (n - 1) - 1) if n > 1 else 0.0
            point.append(edge if align_corners else (2 * p + 1) / n - 1)
        result[(slice(None), *place)] = np.asarray(theta, np.float64) @ [*point, 1.0]
    return result


CASES = (
    Case((("batch", 2, 3),), {"size": (1, 3, 4, 5)}, reference=reference),
    Case((("batch", 2, 3),), {"size": (1, 3, 4, 5), "align_corners": True}, reference=reference,
         name="aligned corners"),
    Case((("batch", 3, 4),), {"size": (1, 1, 2, 3, 1), "align_corners": True},
         reference=reference, name="volumes"),
    Case((("batch", 2, 3), ("batch", 3, "height", "width")), lowest=9,
         call=lambda theta, x: affine_grid(theta, x.shape) + x.sum() * 0,
         reference=lambda theta, x: reference(theta, x.shape), name="size of an image"),
)  # fmt: skip

OPERATOR = Composite("affine_grid", declaration=affine_grid, cases=CASES)
