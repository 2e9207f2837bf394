"""ONNX BitwiseXor (since 18): element-wise bitwise exclusive or with broadcasting."""

import numpy as np

NODE_TYPE = "BitwiseXor"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise bitwise exclusive or with broadcasting."""
    return np.asarray(np.bitwise_xor(a, b))


VERSIONS = {18: fast}
EXACT = VERSIONS
