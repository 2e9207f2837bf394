"""ONNX Hardmax (since 1, 11, 13): one at the first maximum along an axis, zero elsewhere."""

import numpy as np

from onemodel.kernels.softmax import flattened

NODE_TYPE = "Hardmax"


def fast(x: np.ndarray, *, axis: int = -1) -> np.ndarray:
    """1 at the first maximum along ``axis``, 0 elsewhere, in the dtype of ``x``."""
    result = np.zeros_like(x)
    first = np.argmax(x, axis=axis, keepdims=True)
    np.put_along_axis(result, first, x.dtype.type(1), axis=axis)
    return result


def hardmax_1(x: np.ndarray, *, axis: int = 1) -> np.ndarray:
    """Opsets 1 and 11: the array is read as a matrix cut at ``axis``."""
    return flattened(fast, x, axis)


VERSIONS = {1: hardmax_1, 13: fast}
EXACT = VERSIONS
