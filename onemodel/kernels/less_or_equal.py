"""ONNX LessOrEqual (since 12, 16): element-wise a <= b with broadcasting."""

import numpy as np

NODE_TYPE = "LessOrEqual"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise a <= b with broadcasting."""
    return np.asarray(np.less_equal(a, b))


VERSIONS = {12: fast}
EXACT = VERSIONS
