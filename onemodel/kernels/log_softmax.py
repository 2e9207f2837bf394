"""ONNX LogSoftmax (since 1, 11, 13): logarithm of softmax along an axis."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.functions import exp64, log64
from onemodel.kernels.exact.sum import total, wide
from onemodel.kernels.softmax import flattened, sums

NODE_TYPE = "LogSoftmax"


def fast(x: np.ndarray, *, axis: int = -1) -> np.ndarray:
    """x - max - log(sum(exp(x - max))) along ``axis``."""
    wide = widen(x)
    if not x.size:
        return x.copy()
    result = np.asarray(wide - np.max(wide, axis=axis, keepdims=True))
    result -= np.log(sums(np.exp(result), axis))
    return result.astype(x.dtype, copy=False)


def exact(x: np.ndarray, *, axis: int = -1) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    if not x.size:
        return x.copy()
    shifted = wide(x) - np.max(wide(x), axis=axis, keepdims=True)
    return rounded_to(shifted - log64(total(exp64(shifted), (axis,), keepdims=True)), x.dtype)


def log_softmax_1(x: np.ndarray, *, axis: int = 1) -> np.ndarray:
    """Opsets 1 and 11: the array is read as a matrix cut at ``axis``."""
    return flattened(fast, x, axis)


def exact_1(x: np.ndarray, *, axis: int = 1) -> np.ndarray:
    """As :func:`log_softmax_1`, by :func:`exact`."""
    return flattened(exact, x, axis)


VERSIONS = {1: log_softmax_1, 13: fast}
EXACT = {1: exact_1, 13: exact}
