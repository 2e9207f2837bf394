"""ONNX Erf (since 9, 13): element-wise error function."""

import numpy as np

from onemodel.kernels._special import erf
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "Erf"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise error function."""
    return erf(x)


def exact(x: np.ndarray) -> np.ndarray:
    """As ``fast``, with the same bits on every machine."""
    if x.dtype.kind in "iu":  # opset 9 allowed integers; the result keeps their type
        return exact_functions.erf64(x.astype(np.float64)).astype(x.dtype)
    return exact_functions.erf(x)


VERSIONS = {9: fast}
EXACT = {9: exact}
