"""ONNX Atan (since 7, 22): element-wise inverse tangent."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Atan"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse tangent."""
    return np.asarray(np.arctan(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.atan(x)


VERSIONS = {7: fast}
EXACT = {7: exact}
