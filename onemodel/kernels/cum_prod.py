"""ONNX CumProd (since 26): running products along an axis."""

import numpy as np

from onemodel.kernels._cumulate import cumulate

NODE_TYPE = "CumProd"


def fast(
    x: np.ndarray, axis: np.ndarray | int, *, exclusive: int = 0, reverse: int = 0
) -> np.ndarray:
    """Products of the elements up to (``exclusive``: before) each, from the end if ``reverse``."""
    return cumulate(np.multiply, x, axis, exclusive, reverse)


VERSIONS = {26: fast}

# ufunc.accumulate multiplies one element after the other.
EXACT = VERSIONS
