"""ONNX Cosh (since 9, 22): element-wise hyperbolic cosine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Cosh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise hyperbolic cosine."""
    return np.asarray(np.cosh(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.cosh(x)


VERSIONS = {9: fast}
EXACT = {9: exact}
