"""ONNX Mul (since 1, 6, 7, 13, 14): element-wise product with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Mul"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise product with broadcasting."""
    return np.asarray(np.multiply(a, b))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
