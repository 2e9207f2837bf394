"""ONNX SwiGLU (since 28): swish of one array times another."""

import numpy as np

from onemodel.kernels import swish
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "SwiGLU"


def fast(a: np.ndarray, b: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """a sigmoid(alpha a) b, for equal shapes.

    Raises:
        ValueError: the shapes differ.
    """
    _refuse_broadcasting(a, b)
    return np.asarray(swish.fast(a, alpha=alpha) * b)


def _refuse_broadcasting(a: np.ndarray, b: np.ndarray) -> None:
    if a.shape != b.shape:
        raise ValueError(f"SwiGLU: shapes {a.shape} and {b.shape} differ; it does not broadcast")


def exact(a: np.ndarray, b: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    _refuse_broadcasting(a, b)
    return exact_functions.swi_glu(a, b, alpha)


VERSIONS = {28: fast}
EXACT = {28: exact}
