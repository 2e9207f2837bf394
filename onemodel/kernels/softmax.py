"""ONNX Softmax (since 1, 11, 13): exponentials that sum to one along an axis."""

import math
from collections.abc import Callable

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.functions import exp64
from onemodel.kernels.exact.sum import total, wide

NODE_TYPE = "Softmax"


def fast(x: np.ndarray, *, axis: int = -1) -> np.ndarray:
    """exp(x) / sum(exp(x)) along ``axis``, shifted by the maximum.

    float16 rounds after every step, as the operator's function body does; bfloat16
    is computed in float32.
    """
    if not x.size:
        return x.copy()
    wide = x if x.dtype == np.float16 else widen(x)
    result = wide - np.max(wide, axis=axis, keepdims=True)
    np.exp(result, out=result)
    result /= sums(result, axis)
    return np.asarray(result).astype(x.dtype, copy=False)


def sums(x: np.ndarray, axis: int) -> np.ndarray:
    """Sums along ``axis``, kept as size one; a matrix product where that is faster."""
    if axis in (-1, x.ndim - 1) and x.dtype.kind == "f" and x.dtype.itemsize > 2:
        return np.asarray(x @ np.ones(x.shape[-1], x.dtype))[..., None]
    return np.sum(x, axis=axis, keepdims=True)


def exact(x: np.ndarray, *, axis: int = -1) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    if not x.size:
        return x.copy()
    data = wide(x)
    powers = exp64(data - np.max(data, axis=axis, keepdims=True))
    powers /= total(powers, (axis,), keepdims=True)
    return rounded_to(powers, x.dtype)


def softmax_1(x: np.ndarray, *, axis: int = 1) -> np.ndarray:
    """Opsets 1 and 11: the array is read as a matrix cut at ``axis``; rows sum to one."""
    return flattened(fast, x, axis)


def flattened(kernel: Callable[..., np.ndarray], x: np.ndarray, axis: int) -> np.ndarray:
    """``kernel`` along the rows of ``x`` as a matrix whose columns start at ``axis``."""
    start = axis + x.ndim if axis < 0 else axis
    rows = x.reshape(math.prod(x.shape[:start]), math.prod(x.shape[start:]))
    return kernel(rows, axis=1).reshape(x.shape)


def exact_1(x: np.ndarray, *, axis: int = 1) -> np.ndarray:
    """As :func:`softmax_1`, by :func:`exact`."""
    return flattened(exact, x, axis)


VERSIONS = {1: softmax_1, 13: fast}
EXACT = {1: exact_1, 13: exact}
