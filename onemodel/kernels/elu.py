"""ONNX Elu (since 1, 6, 22): element-wise x above zero, alpha (exp(x) - 1) below."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Elu"


def fast(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """Element-wise x above zero, alpha (exp(x) - 1) below."""
    wide = widen(x)
    result = np.asarray(np.expm1(np.minimum(wide, 0)))
    result *= alpha
    result += np.maximum(wide, 0)  # one of the two is zero
    return np.asarray(result, dtype=x.dtype)


def exact(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.elu(x, alpha)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
