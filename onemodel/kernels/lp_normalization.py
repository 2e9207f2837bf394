"""ONNX LpNormalization (since 1, 22): divided by the L1 or L2 norm along an axis."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact import sum as exact_sum
from onemodel.kernels.exact.blocks import rounded_to

NODE_TYPE = "LpNormalization"


def fast(x: np.ndarray, *, axis: int = -1, p: int = 2) -> np.ndarray:
    """``x`` over its L``p`` norm along ``axis``; zero where the norm is zero.

    Raises:
        ValueError: ``p`` is neither 1 nor 2.
    """
    wide = widen(x)
    if p == 1:
        norm = np.sum(np.abs(wide), axis=axis, keepdims=True)
    elif p == 2:
        norm = np.sqrt(np.sum(np.square(wide), axis=axis, keepdims=True))
    else:
        raise ValueError(f"LpNormalization: p={p}; write 1 or 2")
    result = wide / np.where(norm == 0, wide.dtype.type(1), norm)
    return np.asarray(result).astype(x.dtype, copy=False)


def exact(x: np.ndarray, *, axis: int = -1, p: int = 2) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    wide = exact_sum.wide(x)
    if p == 1:
        norm = exact_sum.total(np.abs(wide), (axis,), keepdims=True)
    elif p == 2:
        norm = np.sqrt(exact_sum.total(np.square(wide), (axis,), keepdims=True))
    else:
        raise ValueError(f"LpNormalization: p={p}; write 1 or 2")
    return rounded_to(wide / np.where(norm == 0, 1.0, norm), x.dtype)


VERSIONS = {1: fast}
EXACT = {1: exact}
