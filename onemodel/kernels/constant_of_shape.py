"""ONNX ConstantOfShape (since 9, 20, 21, 23, 24, 25): one value in a given shape."""

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "ConstantOfShape"


def fast(shape: np.ndarray, *, value: np.ndarray | None = None) -> np.ndarray:
    """An array of ``shape`` filled with the one element of ``value`` (default float32 zero)."""
    if value is None:
        return np.zeros(integers(shape), np.float32)
    return np.full(integers(shape), value.reshape(-1)[0], dtype=value.dtype)


VERSIONS = {9: fast}
EXACT = VERSIONS
