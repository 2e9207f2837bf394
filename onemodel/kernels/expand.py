"""ONNX Expand (since 8, 13): broadcast to a shape, both ways."""

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Expand"


def fast(data: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """``data`` broadcast with ``shape`` (a read-only view where sizes repeat)."""
    return np.broadcast_to(data, np.broadcast_shapes(data.shape, tuple(integers(shape))))


VERSIONS = {8: fast}
EXACT = VERSIONS
