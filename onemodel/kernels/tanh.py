"""ONNX Tanh (since 1, 6, 13): element-wise hyperbolic tangent."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Tanh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise hyperbolic tangent."""
    return np.asarray(np.tanh(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
