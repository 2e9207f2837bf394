"""ONNX QuantizeLinear (since 10, 13, 19, 21, 23, 24, 25, 28): floats as scaled integers."""

import numpy as np

from onemodel.kernels._cast import cast
from onemodel.kernels._dtypes import numpy_dtype
from onemodel.kernels._quantize import integer_range, saturated, spread

NODE_TYPE = "QuantizeLinear"


def fast(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
    saturate: int = 1,
) -> np.ndarray:
    """round(x / y_scale) + y_zero_point, saturated, per array, per ``axis`` or per block.

    The result has the type of the zero point, or ``output_dtype``, else uint8.
    Halves round to even. The division is in the type of ``y_scale`` or ``precision``.

    Raises:
        TypeError: the zero point contradicts ``output_dtype``.
    """
    if y_zero_point is not None:
        dtype = y_zero_point.dtype
        if output_dtype and numpy_dtype(output_dtype) != dtype:
            raise TypeError(
                f"QuantizeLinear: output_dtype {numpy_dtype(output_dtype)} "
                f"differs from the zero point's {dtype}"
            )
    else:
        dtype = numpy_dtype(output_dtype) if output_dtype else np.dtype(np.uint8)
    division = numpy_dtype(precision) if precision else y_scale.dtype
    scale = spread(y_scale, x.shape, axis, block_size).astype(division, copy=False)
    ratio = np.asarray(x.astype(division, copy=False) / scale)
    zero = None if y_zero_point is None else spread(y_zero_point, x.shape, axis, block_size)
    if integer_range(dtype) is not None:
        return saturated(ratio, zero, dtype)
    if zero is not None:
        ratio = ratio + zero.astype(ratio.dtype)
    return cast(np.asarray(ratio), dtype, bool(saturate))


def quantize_linear_21(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    saturate: int = 1,
) -> np.ndarray:
    """Opset 21: no precision."""
    return fast(
        x,
        y_scale,
        y_zero_point,
        axis=axis,
        block_size=block_size,
        output_dtype=output_dtype,
        saturate=saturate,
    )


def quantize_linear_19(
    x: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray | None = None,
    *,
    axis: int = 1,
    saturate: int = 1,
) -> np.ndarray:
    """Opset 19: no blocks; the zero point alone chooses the type."""
    return fast(x, y_scale, y_zero_point, axis=axis, saturate=saturate)


def quantize_linear_13(
    x: np.ndarray, y_scale: np.ndarray, y_zero_point: np.ndarray | None = None, *, axis: int = 1
) -> np.ndarray:
    """Opset 13: no 8-bit floats."""
    return fast(x, y_scale, y_zero_point, axis=axis)


def quantize_linear_10(
    x: np.ndarray, y_scale: np.ndarray, y_zero_point: np.ndarray | None = None
) -> np.ndarray:
    """Opset 10: one scale for the whole array."""
    return fast(x, y_scale, y_zero_point)


VERSIONS = {
    10: quantize_linear_10,
    13: quantize_linear_13,
    19: quantize_linear_19,
    21: quantize_linear_21,
    23: fast,
}

# A division, a rounding and a saturating cast, of which NaN comes out as the zero point.
EXACT = VERSIONS
