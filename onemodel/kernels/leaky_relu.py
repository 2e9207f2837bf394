"""ONNX LeakyRelu (since 1, 6, 16): element-wise x above zero, alpha x below."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels._select import select

NODE_TYPE = "LeakyRelu"


def fast(x: np.ndarray, *, alpha: float = 0.01) -> np.ndarray:
    """Element-wise x above zero, alpha x below."""
    scaled = x * alpha
    if 0 <= alpha <= 1:
        return np.asarray(np.maximum(x, scaled))
    return select(x < 0, scaled, x)


def exact(x: np.ndarray, *, alpha: float = 0.01) -> np.ndarray:
    """As ``fast``, by selection alone: a maximum leaves the sign of zero open."""
    return select(x < 0, np.asarray(x * alpha), x)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
