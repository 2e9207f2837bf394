"""ONNX Tanh (since 1, 6, 13): element-wise hyperbolic tangent."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Tanh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise hyperbolic tangent."""
    return np.asarray(np.tanh(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.tanh(x)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
