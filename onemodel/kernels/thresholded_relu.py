"""ONNX ThresholdedRelu (since 10, 22): element-wise x above alpha, else zero."""

import numpy as np

NODE_TYPE = "ThresholdedRelu"


def fast(x: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """Element-wise x above alpha, else zero."""
    return np.asarray(np.where(x > alpha, x, x.dtype.type(0)))


VERSIONS = {10: fast}
