"""ONNX Swish (since 24): element-wise x sigmoid(alpha x), also called SiLU."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import sigmoid
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Swish"


def fast(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """Element-wise x sigmoid(alpha x), also called SiLU."""
    wide = widen(x)
    result = sigmoid(wide if alpha == 1.0 else wide * alpha)
    result *= wide
    return np.asarray(result, dtype=x.dtype)


def exact(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.swish(x, alpha)


VERSIONS = {24: fast}
EXACT = {24: exact}
