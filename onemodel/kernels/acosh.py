"""ONNX Acosh (since 9, 22): element-wise inverse hyperbolic cosine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Acosh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse hyperbolic cosine."""
    return np.asarray(np.arccosh(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.acosh(x)


VERSIONS = {9: fast}
EXACT = {9: exact}
