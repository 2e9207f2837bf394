"""ONNX StringConcat (since 20): element-wise joined strings with broadcasting."""

import numpy as np

NODE_TYPE = "StringConcat"


def fast(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x followed by y, as an object array of str."""
    return np.asarray(np.add(x.astype(object), y.astype(object)), dtype=object)


VERSIONS = {20: fast}
EXACT = VERSIONS
