"""ONNX CumSum (since 11, 14): running sums along an axis."""

import numpy as np

from onemodel.kernels._cumulate import cumulate

NODE_TYPE = "CumSum"


def fast(
    x: np.ndarray, axis: np.ndarray | int, *, exclusive: int = 0, reverse: int = 0
) -> np.ndarray:
    """Sums of the elements up to (``exclusive``: before) each one, from the end if ``reverse``."""
    return cumulate(np.add, x, axis, exclusive, reverse)


VERSIONS = {11: fast}

# ufunc.accumulate adds one element after the other.
EXACT = VERSIONS
