"""ONNX Softsign (since 1, 22): element-wise x / (1 + |x|)."""

import numpy as np

NODE_TYPE = "Softsign"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise x / (1 + |x|)."""
    return np.asarray(x / (1 + np.abs(x)))


VERSIONS = {1: fast}

# Three single operations.
EXACT = VERSIONS
