"""ONNX Cos (since 7, 22): element-wise cosine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Cos"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise cosine."""
    return np.asarray(np.cos(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.cos(x)


VERSIONS = {7: fast}
EXACT = {7: exact}
