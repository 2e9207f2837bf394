"""ONNX Tan (since 7, 22): element-wise tangent."""

import numpy as np

NODE_TYPE = "Tan"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise tangent."""
    return np.asarray(np.tan(x))


VERSIONS = {7: fast}
