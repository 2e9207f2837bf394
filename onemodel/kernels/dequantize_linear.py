"""ONNX DequantizeLinear (since 10, 13, 19, 21, 23, 24, 25, 28): scaled integers as floats."""

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype
from onemodel.kernels._quantize import spread

NODE_TYPE = "DequantizeLinear"


def fast(
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero_point: np.ndarray | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> np.ndarray:
    """(x - x_zero_point) * x_scale, per array, per ``axis`` or per block.

    The result has the type of ``x_scale`` or ``output_dtype``.
    """
    wide = np.float64 if x_scale.dtype == np.float64 else np.float32
    values = x.astype(wide)
    if x_zero_point is not None:
        values = values - spread(x_zero_point, x.shape, axis, block_size).astype(wide)
    scale = spread(x_scale, x.shape, axis, block_size).astype(wide)
    dtype = numpy_dtype(output_dtype) if output_dtype else x_scale.dtype
    return np.asarray(values * scale).astype(dtype, copy=False)


def dequantize_linear_21(
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero_point: np.ndarray | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
) -> np.ndarray:
    """Opset 21: always the type of the scale."""
    return fast(x, x_scale, x_zero_point, axis=axis, block_size=block_size)


def dequantize_linear_13(
    x: np.ndarray, x_scale: np.ndarray, x_zero_point: np.ndarray | None = None, *, axis: int = 1
) -> np.ndarray:
    """Opsets 13 and 19: no blocks."""
    return fast(x, x_scale, x_zero_point, axis=axis)


def dequantize_linear_10(
    x: np.ndarray, x_scale: np.ndarray, x_zero_point: np.ndarray | None = None
) -> np.ndarray:
    """Opset 10: one scale for the whole array."""
    return fast(x, x_scale, x_zero_point)


VERSIONS = {
    10: dequantize_linear_10,
    13: dequantize_linear_13,
    21: dequantize_linear_21,
    23: fast,
}
EXACT = VERSIONS
