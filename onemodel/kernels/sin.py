"""ONNX Sin (since 7, 22): element-wise sine."""

import numpy as np

from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Sin"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise sine."""
    return np.asarray(np.sin(x))


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    return exact_functions.sin(x)


VERSIONS = {7: fast}
EXACT = {7: exact}
