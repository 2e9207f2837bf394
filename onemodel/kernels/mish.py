"""ONNX Mish (since 18, 22): element-wise x tanh(softplus(x))."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import softplus
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Mish"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise x tanh(softplus(x))."""
    wide = widen(x)
    result = softplus(wide)
    np.tanh(result, out=result)
    result *= wide
    return np.asarray(result, dtype=x.dtype)


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.mish(x)


VERSIONS = {18: fast}
EXACT = {18: exact}
