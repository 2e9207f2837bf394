"""ONNX ThresholdedRelu (since 10, 22): element-wise x above alpha, else zero."""

import numpy as np

from onemodel.kernels._select import select

NODE_TYPE = "ThresholdedRelu"


def fast(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """Element-wise x above alpha, else zero."""
    return select(x > alpha, x, x.dtype.type(0))


VERSIONS = {10: fast}
EXACT = VERSIONS
