"""ONNX IsInf (since 10, 20): element-wise test for infinity of the asked signs."""

import numpy as np

NODE_TYPE = "IsInf"


def fast(x: np.ndarray, *, detect_negative: int = 1, detect_positive: int = 1) -> np.ndarray:
    """Element-wise test for infinity of the asked signs."""
    infinite = np.isinf(x)
    if not detect_negative:
        infinite = infinite & (x > 0)
    if not detect_positive:
        infinite = infinite & (x < 0)
    return np.asarray(infinite)


VERSIONS = {10: fast}
EXACT = VERSIONS
