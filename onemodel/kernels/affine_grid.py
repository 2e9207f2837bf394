"""ONNX AffineGrid (since 20): sampling places of an affine map, for GridSample."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._shapes import integers
from onemodel.kernels.exact import product as exact_product

NODE_TYPE = "AffineGrid"


def _grid(
    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray],
    theta: np.ndarray,
    size: np.ndarray,
    *,
    align_corners: int = 0,
) -> np.ndarray:
    """theta (N, r, r + 1) and size (N, C, D1..Dr) to a grid (N, D1..Dr, r)."""
    spatial = integers(size)[2:]
    wide = widen(theta)
    axes = [_places(count, bool(align_corners), wide.dtype) for count in reversed(spatial)]
    # The last spatial axis is x, the first coordinate.
    grids = np.meshgrid(*reversed(axes), indexing="ij")[::-1]
    points = np.stack([*grids, np.ones_like(grids[0])], axis=-1)
    result = matmul(points.reshape(-1, len(spatial) + 1), np.swapaxes(wide, 1, 2))
    shape = (theta.shape[0], *spatial, len(spatial))
    return result.reshape(shape).astype(theta.dtype, copy=False)


def _places(count: int, align: bool, dtype: np.dtype) -> np.ndarray:
    if align:
        places = np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(count)
    else:
        places = (2.0 * np.arange(count) + 1.0) / count - 1.0
    return places.astype(dtype)


fast = partial(_grid, np.matmul)
exact = partial(_grid, exact_product.matmul)

VERSIONS = {20: fast}
EXACT = {20: exact}
