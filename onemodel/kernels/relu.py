"""ONNX Relu (since 1, 6, 13, 14): element-wise max(x, 0)."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Relu"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise max(x, 0)."""
    return np.asarray(np.maximum(x, x.dtype.type(0)))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
