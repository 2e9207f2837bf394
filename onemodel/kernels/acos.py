"""ONNX Acos (since 7, 22): element-wise inverse cosine."""

import numpy as np

NODE_TYPE = "Acos"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse cosine."""
    return np.asarray(np.arccos(x))


VERSIONS = {7: fast}
