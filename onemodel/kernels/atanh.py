"""ONNX Atanh (since 9, 22): element-wise inverse hyperbolic tangent."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Atanh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse hyperbolic tangent."""
    return np.asarray(np.arctanh(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.atanh(x)


VERSIONS = {9: fast}
EXACT = {9: exact}
