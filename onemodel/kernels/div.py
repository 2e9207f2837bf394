"""ONNX Div (since 1, 6, 7, 13, 14): element-wise quotient; integers truncate toward zero."""

import numpy as np

from onemodel.kernels._legacy import with_axis_broadcast

NODE_TYPE = "Div"


def fast(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Element-wise quotient with broadcasting; integer quotients truncate toward zero."""
    kind = a.dtype.kind
    if kind == "u":
        return np.asarray(np.floor_divide(a, b))
    if kind != "i":
        return np.asarray(np.true_divide(a, b))
    quotient, remainder = np.divmod(a, b)
    # Floor and truncation differ where the quotient is inexact and negative.
    inexact = (remainder != 0) & ((a < 0) != (b < 0))
    return np.asarray(quotient + inexact.astype(a.dtype))


VERSIONS = {1: with_axis_broadcast(fast), 7: fast}
EXACT = VERSIONS
