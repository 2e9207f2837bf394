"""ONNX Xor (since 1, 7): element-wise logical exclusive or with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Xor"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise logical exclusive or with broadcasting."""
    return np.asarray(np.logical_xor(a, b))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
