"""ONNX ScatterND (since 11, 13, 16, 18): slices written at coordinate tuples."""

import numpy as np

from onemodel.kernels._scatter import scatter

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


VERSIONS = {11: scatter_nd_11, 16: fast}
