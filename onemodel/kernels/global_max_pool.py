"""ONNX GlobalMaxPool (since 1, 22): maximum over all spatial axes."""

import numpy as np

from onemodel.kernels.exact.nan import with_positive_zero

NODE_TYPE = "GlobalMaxPool"


def fast(x: np.ndarray) -> np.ndarray:
    """(N, C, D1..Dn) to (N, C, 1..1)."""
    return np.asarray(np.max(x, axis=tuple(range(2, x.ndim)), keepdims=True))


exact = with_positive_zero(fast)

VERSIONS = {1: fast}
EXACT = {1: exact}
