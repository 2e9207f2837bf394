"""ONNX Gather (since 1, 11, 13): entries of one axis by index."""

import numpy as np

NODE_TYPE = "Gather"


def fast(data: np.ndarray, indices: np.ndarray, *, axis: int = 0) -> np.ndarray:
    """``data`` indexed along ``axis`` by ``indices`` of any shape; negative ones count back."""
    return np.asarray(data.take(indices, axis), data.dtype)


VERSIONS = {1: fast}
EXACT = VERSIONS
