"""ONNX GatherND (since 11, 12, 13): slices at coordinate tuples."""

import numpy as np

NODE_TYPE = "GatherND"


def fast(data: np.ndarray, indices: np.ndarray, *, batch_dims: int = 0) -> np.ndarray:
    """``data`` at the tuples in the last axis of ``indices``, batch by batch."""
    coordinates = tuple(np.moveaxis(indices, -1, 0))
    if not batch_dims:
        return np.asarray(data[coordinates], dtype=data.dtype)
    rest = indices.ndim - 1 - batch_dims
    batch = tuple(
        grid.reshape(grid.shape + (1,) * rest)
        for grid in np.ogrid[tuple(slice(n) for n in indices.shape[:batch_dims])]
    )
    return np.asarray(data[batch + coordinates], dtype=data.dtype)


def gather_nd_11(data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Opset 11: no batch axes."""
    return fast(data, indices)


VERSIONS = {11: gather_nd_11, 12: fast}
EXACT = VERSIONS
