"""ONNX BitwiseNot (since 18): element-wise bitwise complement."""

import numpy as np

NODE_TYPE = "BitwiseNot"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise bitwise complement."""
    return np.asarray(np.bitwise_not(x))


VERSIONS = {18: fast}
EXACT = VERSIONS
