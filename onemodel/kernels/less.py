"""ONNX Less (since 1, 7, 9, 13): element-wise a < b with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Less"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise a < b with broadcasting."""
    return np.asarray(np.less(a, b))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
