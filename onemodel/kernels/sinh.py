"""ONNX Sinh (since 9, 22): element-wise hyperbolic sine."""

import numpy as np

NODE_TYPE = "Sinh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise hyperbolic sine."""
    return np.asarray(np.sinh(x))


VERSIONS = {9: fast}
