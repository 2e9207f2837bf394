"""ONNX ScatterElements (since 11, 13, 16, 18): one entry of an axis written per index."""

import numpy as np

from onemodel.kernels._scatter import scatter
from onemodel.kernels.exact.nan import positive_zero
from onemodel.kernels.gather_elements import along_axis

NODE_TYPE = "ScatterElements"


def fast(
    data: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> np.ndarray:
    """A copy of ``data`` with ``updates`` at ``indices`` along ``axis``.

    ``reduction`` is none, add, mul, max or min; all duplicates take part.
    """
    index = along_axis(indices, axis, data.shape[axis])
    return scatter(data, index, updates, reduction, NODE_TYPE)


def scatter_elements_11(
    data: np.ndarray, indices: np.ndarray, updates: np.ndarray, *, axis: int = 0
) -> np.ndarray:
    """Opset 11: no reduction."""
    return fast(data, indices, updates, axis=axis)


def exact(
    data: np.ndarray,
    indices: np.ndarray,
    updates: np.ndarray,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> np.ndarray:
    """As ``fast``; the max and min of zeros is +0."""
    result = fast(data, indices, updates, axis=axis, reduction=reduction)
    return positive_zero(result) if reduction in ("max", "min") else result


VERSIONS = {11: scatter_elements_11, 16: fast}
EXACT = {11: scatter_elements_11, 16: exact}
