"""ONNX LRN (since 1, 13): local response normalisation across channels."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "LRN"


def _lrn(
    pow_: Callable[..., np.ndarray],
    x: np.ndarray,
    *,
    alpha: float = 0.0001,
    beta: float = 0.75,
    bias: float = 1.0,
    size: int,
) -> np.ndarray:
    """x / (bias + alpha / size * sum of squares over ``size`` neighbouring channels) ** beta."""
    wide = widen(x)
    before = (size - 1) // 2
    padded = np.zeros((x.shape[0], x.shape[1] + size, *x.shape[2:]), wide.dtype)
    np.square(wide, out=padded[:, before + 1 : before + 1 + x.shape[1]])
    total = sum(padded[:, 1 + i : 1 + i + x.shape[1]] for i in range(size))
    scale = np.asarray(total * wide.dtype.type(alpha / size)) + wide.dtype.type(bias)
    return np.asarray(wide / pow_(scale, wide.dtype.type(beta))).astype(x.dtype, copy=False)


fast = partial(_lrn, np.power)
exact = partial(_lrn, exact_functions.pow)

VERSIONS = {1: fast}
EXACT = {1: exact}
