"""ONNX Mod (since 10, 13, 28): element-wise remainder with the divisor's or dividend's sign."""

import numpy as np

NODE_TYPE = "Mod"


def fast(a: np.ndarray, b: np.ndarray, *, fmod: int = 0) -> np.ndarray:
    """Element-wise remainder: the sign of ``b`` (``fmod=0``) or of ``a`` (``fmod=1``)."""
    return np.asarray(np.fmod(a, b) if fmod else np.mod(a, b))


VERSIONS = {10: fast}

# The remainder of C is exact by definition.
EXACT = VERSIONS
