"""ONNX GlobalLpPool (since 1, 2, 22): Lp norm over all spatial axes."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import functions as exact_functions
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.sum import total, wide
from onemodel.kernels.lp_pool import norm_root, powers

NODE_TYPE = "GlobalLpPool"


def fast(x: np.ndarray, *, p: float = 2) -> np.ndarray:
    """(N, C, D1..Dn) to (N, C, 1..1)."""
    total = np.sum(powers(widen(x), p), axis=tuple(range(2, x.ndim)), keepdims=True)
    return norm_root(total, p).astype(x.dtype, copy=False)


def exact(x: np.ndarray, *, p: float = 2) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    sums = total(powers(wide(x), p, exact_functions.pow), range(2, x.ndim), keepdims=True)
    return rounded_to(norm_root(sums, p, exact_functions.pow), x.dtype)


VERSIONS = {1: fast}
EXACT = {1: exact}
