"""ONNX Asinh (since 9, 22): element-wise inverse hyperbolic sine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Asinh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse hyperbolic sine."""
    return np.asarray(np.arcsinh(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.asinh(x)


VERSIONS = {9: fast}
EXACT = {9: exact}
