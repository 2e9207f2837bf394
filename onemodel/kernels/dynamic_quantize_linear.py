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
    zero_point = np.asarray(np.rint(np.clip(-low / scale, 0, 255))).astype(np.uint8)
    return saturated(x / scale, zero_point, np.dtype(np.uint8)), scale, zero_point


VERSIONS = {11: fast}
