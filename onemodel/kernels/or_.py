"""ONNX Or (since 1, 7): element-wise logical or with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Or"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise logical or with broadcasting."""
    return np.asarray(np.logical_or(a, b))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
