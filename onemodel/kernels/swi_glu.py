"""ONNX SwiGLU (since 28): swish of one array times another."""

import numpy as np

from onemodel.kernels import swish

NODE_TYPE = "SwiGLU"


def fast(a: np.ndarray, b: np.ndarray, *, alpha: float = 1.0) -> np.ndarray:
    """a sigmoid(alpha a) b, for equal shapes.

    Raises:
        ValueError: the shapes differ.
    """
    if a.shape != b.shape:
        raise ValueError(f"SwiGLU: shapes {a.shape} and {b.shape} differ; it does not broadcast")
    return np.asarray(swish.fast(a, alpha=alpha) * b)


VERSIONS = {28: fast}
