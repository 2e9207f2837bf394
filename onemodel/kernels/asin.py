"""ONNX Asin (since 7, 22): element-wise inverse sine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Asin"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse sine."""
    return np.asarray(np.arcsin(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.asin(x)


VERSIONS = {7: fast}
EXACT = {7: exact}
