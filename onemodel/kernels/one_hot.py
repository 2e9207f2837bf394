"""ONNX OneHot (since 9, 11, 28): one value at an index along a new axis, another elsewhere."""

import numpy as np

from onemodel.kernels._cast import exact_cast

NODE_TYPE = "OneHot"


def fast(
    indices: np.ndarray, depth: np.ndarray, values: np.ndarray, *, axis: int = -1
) -> np.ndarray:
    """``values[1]`` where the new ``axis`` of size ``depth`` meets the index, else ``values[0]``.

    Negative indices count back; those outside [-depth, depth) give no hit.
    """
    return _one_hot(indices.astype(np.int64), depth, values, axis)


def exact(
    indices: np.ndarray, depth: np.ndarray, values: np.ndarray, *, axis: int = -1
) -> np.ndarray:
    """As ``fast``; an index that is NaN counts as 0."""
    return _one_hot(exact_cast(indices, np.dtype(np.int64)), depth, values, axis)


def _one_hot(whole: np.ndarray, depth: np.ndarray, values: np.ndarray, axis: int) -> np.ndarray:
    size = int(depth.reshape(-1)[0])
    whole = np.where(whole < 0, whole + size, whole)
    where = axis + whole.ndim + 1 if axis < 0 else axis
    along = [1] * (whole.ndim + 1)
    along[where] = size
    hit = np.expand_dims(whole, where) == np.arange(size).reshape(along)
    return np.where(hit, values[1], values[0]).astype(values.dtype, copy=False)


VERSIONS = {9: fast}
EXACT = {9: exact}
