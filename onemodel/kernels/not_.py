"""ONNX Not (since 1): element-wise logical not."""

import numpy as np

NODE_TYPE = "Not"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise logical not."""
    return np.asarray(np.logical_not(x))


VERSIONS = {1: fast}
EXACT = VERSIONS
