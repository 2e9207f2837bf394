"""ONNX Atanh (since 9, 22): element-wise inverse hyperbolic tangent."""

import numpy as np

NODE_TYPE = "Atanh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse hyperbolic tangent."""
    return np.asarray(np.arctanh(x))


VERSIONS = {9: fast}
