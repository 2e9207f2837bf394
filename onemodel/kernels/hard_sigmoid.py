"""ONNX HardSigmoid (since 1, 6, 22): element-wise alpha x + beta, clipped to [0, 1]."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels.exact.nan import with_positive_zero

NODE_TYPE = "HardSigmoid"


def fast(x: np.ndarray, *, alpha: float = 0.2, beta: float = 0.5) -> np.ndarray:
    """Element-wise alpha x + beta, clipped to [0, 1]."""
    result = np.asarray(widen(x) * alpha)
    result += beta
    result = np.minimum(np.maximum(result, 0), 1)
    return np.asarray(result, dtype=x.dtype)


exact = with_positive_zero(fast)

VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
