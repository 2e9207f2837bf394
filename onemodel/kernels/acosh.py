"""ONNX Acosh (since 9, 22): element-wise inverse hyperbolic cosine."""

import numpy as np

NODE_TYPE = "Acosh"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise inverse hyperbolic cosine."""
    return np.asarray(np.arccosh(x))


VERSIONS = {9: fast}
