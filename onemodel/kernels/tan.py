"""ONNX Tan (since 7, 22): element-wise tangent."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Tan"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise tangent."""
    return np.asarray(np.tan(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.tan(x)


VERSIONS = {7: fast}
EXACT = {7: exact}
