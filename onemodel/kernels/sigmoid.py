"""ONNX Sigmoid (since 1, 6, 13): element-wise 1 / (1 + exp(-x))."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels._special import sigmoid
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Sigmoid"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise 1 / (1 + exp(-x))."""
    return np.asarray(sigmoid(widen(x)), dtype=x.dtype)


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.sigmoid(x)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
