"""ONNX Flatten (since 1, 9, 11, 13, 21, 23, 24, 25): a matrix cut at an axis."""

import math

import numpy as np

NODE_TYPE = "Flatten"


def fast(x: np.ndarray, *, axis: int = 1) -> np.ndarray:
    """``x`` as (product of sizes before ``axis``, product of the rest)."""
    start = axis + x.ndim if axis < 0 else axis
    return x.reshape(math.prod(x.shape[:start]), math.prod(x.shape[start:]))


VERSIONS = {1: fast}
EXACT = VERSIONS
