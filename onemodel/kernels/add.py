"""ONNX Add (since 1, 6, 7, 13, 14): element-wise sum with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Add"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise sum with broadcasting."""
    return np.asarray(np.add(a, b))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
