"""ONNX Asinh (since 9, 22): element-wise inverse hyperbolic sine."""

import numpy as np

NODE_TYPE = "Asinh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse hyperbolic sine."""
    return np.asarray(np.arcsinh(x))


VERSIONS = {9: fast}
