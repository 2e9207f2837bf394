"""ONNX Cos (since 7, 22): element-wise cosine."""

import numpy as np

NODE_TYPE = "Cos"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise cosine."""
    return np.asarray(np.cos(x))


VERSIONS = {7: fast}
