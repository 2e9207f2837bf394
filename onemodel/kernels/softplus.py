"""ONNX Softplus (since 1, 22): element-wise log(1 + exp(x))."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._special import softplus

NODE_TYPE = "Softplus"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise log(1 + exp(x))."""
    return np.asarray(softplus(widen(x)), dtype=x.dtype)


VERSIONS = {1: fast}
