"""ONNX BitwiseOr (since 18): element-wise bitwise or with broadcasting."""

import numpy as np

NODE_TYPE = "BitwiseOr"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise bitwise or with broadcasting."""
    return np.asarray(np.bitwise_or(a, b))


VERSIONS = {18: fast}
EXACT = VERSIONS
