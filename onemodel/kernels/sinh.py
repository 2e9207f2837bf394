"""ONNX Sinh (since 9, 22): element-wise hyperbolic sine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Sinh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise hyperbolic sine."""
    return np.asarray(np.sinh(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.sinh(x)


VERSIONS = {9: fast}
EXACT = {9: exact}
