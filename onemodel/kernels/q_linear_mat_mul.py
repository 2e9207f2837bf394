"""ONNX QLinearMatMul (since 10, 21): quantized product of quantized matrices."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._quantize import by_row, centred, integer_matmul, saturated

NODE_TYPE = "QLinearMatMul"


def fast(
    a: np.ndarray,
    a_scale: np.ndarray,
    a_zero_point: np.ndarray,
    b: np.ndarray,
    b_scale: np.ndarray,
    b_zero_point: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray,
) -> np.ndarray:
    """The product of the dequantized matrices, quantized by y's scale and zero point."""
    product = integer_matmul(centred(a, by_row(a_zero_point)), centred(b, b_zero_point))
    row_scale = by_row(a_scale)
    assert row_scale is not None
    factor = widen(row_scale) * widen(b_scale) / widen(y_scale)
    return saturated(product * factor, y_zero_point, y_zero_point.dtype)


VERSIONS = {10: fast}

# The product is an exact integer; what follows are single operations.
EXACT = VERSIONS
