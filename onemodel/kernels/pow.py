"""ONNX Pow (since 1, 7, 12, 13, 15): element-wise power in the dtype of the base."""

import numpy as np

from onemodel.kernels._cast import exact_cast
from onemodel.kernels._dtypes import widen
from onemodel.kernels._legacy import with_axis_broadcast
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Pow"


def fast(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Element-wise x ** y with broadcasting; the result has the dtype of ``x``."""
    if y.size != 1 and x.dtype is y.dtype and x.dtype.char in "fd":  # the commonest call
        return np.asarray(np.power(x, y))
    if y.size == 1 and x.ndim >= y.ndim:
        exponent = y.item()
        if exponent == 2:
            return np.asarray(np.square(x))
        if exponent == 3:
            return np.asarray(x * x * x)
        if exponent == 0.5 and x.dtype.kind == "f":
            return np.asarray(np.sqrt(x))
        if exponent == -1 and x.dtype.kind == "f":
            return np.asarray(np.reciprocal(x))
    if x.dtype.kind in "iub":
        return _integer_power(x, y)
    wide = widen(x)
    if y.dtype is not wide.dtype:
        y = y.astype(wide.dtype)
    return np.asarray(np.power(wide, y), x.dtype)


def _integer_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if y.dtype.kind in "iub" and not (y < 0).any():
        return np.asarray(np.power(x, y.astype(x.dtype, copy=False)))
    # A fractional or negative exponent: in float64, then cut off like a C++ cast.
    return np.asarray(np.power(x.astype(np.float64), y.astype(np.float64))).astype(x.dtype)


def exact(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine.

    A fractional or negative power of an integer is cut off toward zero and saturates.
    """
    if x.dtype.kind not in "iub":
        if y.size == 1 and x.ndim >= y.ndim and y.item() == 2:
            return np.asarray(np.square(x))  # rounds once in any dtype
        return exact_functions.pow(x, y)
    if y.dtype.kind in "iub" and not (y < 0).any():
        return _integer_power(x, y)
    wide = exact_functions.pow(x.astype(np.float64), y)
    return exact_cast(wide, x.dtype)


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = {1: with_axis_broadcast(exact), 7: exact}
