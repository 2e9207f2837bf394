"""ONNX Equal (since 1, 7, 11, 13, 19): element-wise a == b with broadcasting."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Equal"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise a == b with broadcasting."""
    return np.asarray(np.equal(a, b), dtype=bool)


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
