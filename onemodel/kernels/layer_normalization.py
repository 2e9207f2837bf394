"""ONNX LayerNormalization (since 17): zero mean, unit variance over trailing axes."""

import math

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype, widen
from onemodel.kernels._normalize import exact_rows, row_means
from onemodel.kernels.exact.blocks import rounded_to
from onemodel.kernels.exact.sum import wide

NODE_TYPE = "LayerNormalization"


def fast(
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(Y, Mean, InvStdDev) of ``x`` normalised over the axes from ``axis`` on.

    float16 and bfloat16 are computed in float32; the statistics come in the
    type ``stash_type``. The variance is that of the centred values, so a large
    mean costs no digits.
    """
    start = axis + x.ndim if axis < 0 else axis
    lead, trail = x.shape[:start], x.shape[start:]
    rows = widen(x).reshape(math.prod(lead), math.prod(trail))
    mean = row_means(rows)
    result = rows - mean
    deviation = np.vecdot(result, result)[:, None]
    deviation /= rows.shape[1]
    deviation += epsilon
    np.sqrt(deviation, out=deviation)
    inverse = np.reciprocal(deviation, out=deviation)
    result *= inverse
    result = result.reshape(x.shape)
    result *= widen(scale)
    if b is not None:
        result += widen(b)
    kept = numpy_dtype(stash_type)
    statistics = (*lead, *(1,) * len(trail))
    return (
        result.astype(x.dtype, copy=False),
        mean.astype(kept, copy=False).reshape(statistics),
        inverse.astype(kept, copy=False).reshape(statistics),
    )


def exact(
    x: np.ndarray,
    scale: np.ndarray,
    b: np.ndarray | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As :func:`fast`, in float64, each output rounded once."""
    start = axis + x.ndim if axis < 0 else axis
    lead, trail = x.shape[:start], x.shape[start:]
    rows, mean, inverse = exact_rows(wide(x).reshape(math.prod(lead), math.prod(trail)), epsilon)
    result = rows.reshape(x.shape) * wide(scale)
    if b is not None:
        result += wide(b)
    kept = numpy_dtype(stash_type)
    statistics = (*lead, *(1,) * len(trail))
    return (
        rounded_to(result, x.dtype),
        rounded_to(mean, kept).reshape(statistics),
        rounded_to(inverse, kept).reshape(statistics),
    )


VERSIONS = {17: fast}
EXACT = {17: exact}
