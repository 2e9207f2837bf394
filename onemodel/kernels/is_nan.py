"""ONNX IsNaN (since 9, 13, 20): element-wise test for not-a-number."""

import numpy as np

NODE_TYPE = "IsNaN"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise test for not-a-number."""
    return np.asarray(np.isnan(x))


VERSIONS = {9: fast}
EXACT = VERSIONS
