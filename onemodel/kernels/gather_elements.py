"""ONNX GatherElements (since 11, 13): one entry of an axis per index."""

import numpy as np

NODE_TYPE = "GatherElements"


def fast(data: np.ndarray, indices: np.ndarray, *, axis: int = 0) -> np.ndarray:
    """result[i][j][k] = data[i][indices[i][j][k]][k], for ``axis`` 1; other axes may be shorter."""
    return data[along_axis(indices, axis, data.shape[axis])]


def along_axis(indices: np.ndarray, axis: int, size: int) -> tuple[np.ndarray, ...]:
    """Open grids for the other axes around ``indices`` on ``axis`` (negatives count back)."""
    axis = axis + indices.ndim if axis < 0 else axis
    grids = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    grids[axis] = np.where(indices < 0, indices + size, indices)
    return tuple(grids)


VERSIONS = {11: fast}
EXACT = VERSIONS
