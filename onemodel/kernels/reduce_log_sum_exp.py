"""ONNX ReduceLogSumExp (since 1, 11, 13, 18, 28): logarithm of summed exponentials over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input, identity
from onemodel.kernels.exact.functions import exp64, log64
from onemodel.kernels.exact.sum import total

NODE_TYPE = "ReduceLogSumExp"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Logarithm of the sum of exponentials over ``axes`` (None: all)."""
    floats = data.astype(np.float64) if data.dtype.kind in "iu" else data
    top = np.max(floats, axis=axes, keepdims=True, initial=-np.inf)
    # A row of infinities keeps its meaning: exp(-inf - 0) sums to 0, exp(inf - 0) to inf.
    top = np.where(np.isfinite(top), top, 0).astype(floats.dtype)
    total = np.sum(np.exp(floats - top), axis=axes, keepdims=True, dtype=floats.dtype)
    result = np.log(total) + top
    return result if keepdims else np.squeeze(result, axis=axes)


fast = axes_as_input(core, identity)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, in float64 and rounded once."""
    wide = data.astype(np.float64)
    top = np.max(wide, axis=axes, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    result = log64(total(exp64(wide - top), axes, keepdims=True)) + top
    return result if keepdims else np.squeeze(result, axis=axes)


exact = axes_as_input(exact_core, identity)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
