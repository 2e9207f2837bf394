"""ONNX BitwiseAnd (since 18): element-wise bitwise and with broadcasting."""

import numpy as np

NODE_TYPE = "BitwiseAnd"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise bitwise and with broadcasting."""
    return np.asarray(np.bitwise_and(a, b))


VERSIONS = {18: fast}
EXACT = VERSIONS
