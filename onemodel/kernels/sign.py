"""ONNX Sign (since 9, 13): element-wise -1, 0 or 1."""

import numpy as np

NODE_TYPE = "Sign"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise -1, 0 or 1."""
    return np.asarray(np.sign(x))


VERSIONS = {9: fast}
EXACT = VERSIONS
