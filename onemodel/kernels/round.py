"""ONNX Round (since 11, 22): element-wise nearest integer, halves to even."""

import numpy as np

NODE_TYPE = "Round"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise nearest integer, halves to even."""
    return np.asarray(np.rint(x))


VERSIONS = {11: fast}
EXACT = VERSIONS
