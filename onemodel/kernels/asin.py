"""ONNX Asin (since 7, 22): element-wise inverse sine."""

import numpy as np

NODE_TYPE = "Asin"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse sine."""
    return np.asarray(np.arcsin(x))


VERSIONS = {7: fast}
