"""ONNX Atan (since 7, 22): element-wise inverse tangent."""

import numpy as np

NODE_TYPE = "Atan"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse tangent."""
    return np.asarray(np.arctan(x))


VERSIONS = {7: fast}
