"""ONNX And (since 1, 7): element-wise logical and with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "And"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise logical and with broadcasting."""
    return np.asarray(np.logical_and(a, b))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
