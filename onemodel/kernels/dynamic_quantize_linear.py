"""ONNX DynamicQuantizeLinear (since 11): uint8 with a scale found from the data."""

import numpy as np

from onemodel.kernels._quantize import saturated

NODE_TYPE = "DynamicQuantizeLinear"


def fast(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(y uint8, y_scale, y_zero_point); the range always holds zero."""
    low = np.minimum(np.min(x, initial=0), 0).astype(x.dtype)
    high = np.maximum(np.max(x, initial=0), 0).astype(x.dtype)
    span = high - low
    scale = np.asarray((span if span > 0 else x.dtype.type(255)) / x.dtype.type(255))
    zero_point = saturated(np.asarray(-low / scale), None, np.dtype(np.uint8))
    return saturated(x / scale, zero_point, np.dtype(np.uint8)), scale, zero_point


def exact(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As ``fast``; NaN counts as zero, so that it does not spoil the scale."""
    return fast(np.where(np.isnan(x), x.dtype.type(0), x))


VERSIONS = {11: fast}
EXACT = {11: exact}
