"""ONNX Log (since 1, 6, 13): element-wise natural logarithm."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Log"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise natural logarithm."""
    return np.asarray(np.log(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.log(x)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
