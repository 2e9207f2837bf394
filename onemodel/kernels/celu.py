"""ONNX Celu (since 12, 28): element-wise max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Celu"


def fast(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """Element-wise max(0, x) + min(0, alpha (exp(x / alpha) - 1))."""
    wide = widen(x)
    result = np.asarray(np.expm1(np.minimum(wide, 0) / alpha))
    result *= alpha
    result = np.minimum(result, 0) + np.maximum(wide, 0)
    return np.asarray(result, dtype=x.dtype)


def exact(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.celu(x, alpha)


VERSIONS = {12: fast}
EXACT = {12: exact}
