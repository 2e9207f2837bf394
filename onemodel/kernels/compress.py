"""ONNX Compress (since 9, 11, 28): entries where a condition holds."""

import numpy as np

NODE_TYPE = "Compress"


def fast(x: np.ndarray, condition: np.ndarray, *, axis: int | None = None) -> np.ndarray:
    """Entries of ``axis`` (default: of the flattened array) where ``condition`` is true."""
    return np.compress(condition, x, axis=axis)


VERSIONS = {9: fast}
EXACT = VERSIONS
