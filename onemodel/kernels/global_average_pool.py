"""ONNX GlobalAveragePool (since 1, 22): mean over all spatial axes."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.sum import mean

NODE_TYPE = "GlobalAveragePool"


def fast(x: np.ndarray) -> np.ndarray:
    """(N, C, D1..Dn) to (N, C, 1..1)."""
    axes = tuple(range(2, x.ndim))
    return np.asarray(np.mean(widen(x), axis=axes, keepdims=True)).astype(x.dtype, copy=False)


def exact(x: np.ndarray) -> np.ndarray:
    """As :func:`fast`, added in a fixed tree and rounded once."""
    return rounded_to(mean(x, range(2, x.ndim), keepdims=True), x.dtype)


VERSIONS = {1: fast}
EXACT = {1: exact}
