"""ONNX Relu (since 1, 6, 13, 14): element-wise max(x, 0)."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels.exact.nan import with_positive_zero

NODE_TYPE = "Relu"

LARGE = 4096
"""Elements from which the time per element counts more than the time per call."""


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise max(x, 0)."""
    if x.size >= LARGE and x.dtype.kind == "f":
        # NumPy's clip runs several times faster than its maximum with a scalar, but
        # keeps -0, which adding 0 turns into +0.
        result = x.clip(0.0, np.inf)
        result += 0.0
        return result
    return np.asarray(np.maximum(x, x.dtype.type(0)))


exact = with_positive_zero(fast)

VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
