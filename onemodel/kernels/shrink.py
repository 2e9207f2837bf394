"""ONNX Shrink (since 9): element-wise soft (bias) or hard (bias 0) threshold at lambd."""

import numpy as np

from onemodel.kernels._dtypes import widen

NODE_TYPE = "Shrink"


def fast(x: np.ndarray, *, bias: float = 0.0, lambd: float = 0.5) -> np.ndarray:
    """Element-wise soft (bias) or hard (bias 0) threshold at lambd."""
    wide = widen(x)
    result = np.where(wide < -lambd, wide + bias, np.where(wide > lambd, wide - bias, 0))
    return np.asarray(result).astype(x.dtype, copy=False)


VERSIONS = {9: fast}
EXACT = VERSIONS
