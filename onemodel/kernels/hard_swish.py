"""ONNX HardSwish (since 14, 22): element-wise x clip(x / 6 + 1/2, 0, 1)."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.nan import positive_zero

NODE_TYPE = "HardSwish"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise x clip(x / 6 + 1/2, 0, 1)."""
    wide = widen(x)
    result = np.asarray(wide * (1 / 6))
    result += 0.5
    result = np.minimum(np.maximum(result, 0), 1) * wide
    return np.asarray(result, dtype=x.dtype)


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``; the sign of a zero is decided before it is multiplied."""
    wide = widen(x)
    result = np.asarray(wide * (1 / 6))
    result += 0.5
    result = positive_zero(np.minimum(np.maximum(result, 0), 1)) * wide
    return np.asarray(result, dtype=x.dtype)


VERSIONS = {14: fast}
EXACT = {14: exact}
