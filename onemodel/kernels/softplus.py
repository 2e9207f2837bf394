"""ONNX Softplus (since 1, 22): element-wise log(1 + exp(x))."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import softplus
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Softplus"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise log(1 + exp(x))."""
    return np.asarray(softplus(widen(x)), dtype=x.dtype)


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.softplus(x)


VERSIONS = {1: fast}
EXACT = {1: exact}
