"""ONNX RMSNormalization (since 23): unit root mean square over trailing axes."""

import math

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.sum import mean, wide

NODE_TYPE = "RMSNormalization"


def fast(
    x: np.ndarray,
    scale: np.ndarray,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> np.ndarray:
    """``x`` divided by its root mean square over the axes from ``axis`` on, times ``scale``.

    float16 and bfloat16 are computed in float32.
    """
    start = axis + x.ndim if axis < 0 else axis
    rows = widen(x).reshape(math.prod(x.shape[:start]), math.prod(x.shape[start:]))
    root = np.vecdot(rows, rows)[:, None]
    root /= rows.shape[1]
    root += epsilon
    np.sqrt(root, out=root)
    result = (rows * np.reciprocal(root, out=root)).reshape(x.shape)
    return np.asarray(result * widen(scale)).astype(x.dtype, copy=False)


def exact(
    x: np.ndarray,
    scale: np.ndarray,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    start = axis + x.ndim if axis < 0 else axis
    rows = wide(x).reshape(math.prod(x.shape[:start]), math.prod(x.shape[start:]))
    root = np.sqrt(mean(np.square(rows), (1,), keepdims=True) + epsilon)
    return rounded_to((rows / root).reshape(x.shape) * wide(scale), x.dtype)


VERSIONS = {23: fast}
EXACT = {23: exact}
