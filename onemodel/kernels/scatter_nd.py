"""ONNX ScatterND (since 11, 13, 16, 18): slices written at coordinate tuples."""

import numpy as np

from onemodel.kernels._scatter import scatter
from onemodel.kernels.exact.nan import positive_zero

NODE_TYPE = "ScatterND"


def fast(
    data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, reduction: str = "none"
) -> np.ndarray:
    """A copy of ``data`` with ``updates`` at the tuples in the last axis of ``indices``.

    ``reduction`` is none, add, mul, max or min; all duplicates take part.
    """
    return scatter(data, tuple(np.moveaxis(indices, -1, 0)), updates, reduction, NODE_TYPE)


def scatter_nd_11(data: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
    """Opset 11: no reduction."""
    return fast(data, indices, updates)


def exact(
    data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, reduction: str = "none"
) -> np.ndarray:
    """As ``fast``; the max and min of zeros is +0."""
    result = fast(data, indices, updates, reduction=reduction)
    return positive_zero(result) if reduction in ("max", "min") else result


VERSIONS = {11: scatter_nd_11, 16: fast}
EXACT = {11: scatter_nd_11, 16: exact}
