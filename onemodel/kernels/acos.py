"""ONNX Acos (since 7, 22): element-wise inverse cosine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Acos"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse cosine."""
    return np.asarray(np.arccos(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.acos(x)


VERSIONS = {7: fast}
EXACT = {7: exact}
