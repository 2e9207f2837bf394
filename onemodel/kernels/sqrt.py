"""ONNX Sqrt (since 1, 6, 13): element-wise square root, NaN below zero."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Sqrt"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise square root, NaN below zero."""
    return np.asarray(np.sqrt(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = VERSIONS
