"""ONNX QLinearConv (since 10): quantized convolution of quantized arrays."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels import conv_integer
from onemodel.kernels._quantize import by_channel, saturated

NODE_TYPE = "QLinearConv"


def fast(
    x: np.ndarray,
    x_scale: np.ndarray,
    x_zero_point: np.ndarray,
    w: np.ndarray,
    w_scale: np.ndarray,
    w_zero_point: np.ndarray,
    y_scale: np.ndarray,
    y_zero_point: np.ndarray,
    b: np.ndarray | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Conv of the dequantized arrays, quantized by y's scale and zero point.

    ``b`` is int32 at scale x_scale * w_scale; the weight's scale and zero point may
    be one per output channel.
    """
    total = conv_integer.fast(
        x,
        w,
        x_zero_point,
        w_zero_point,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    if b is not None:
        total += b.reshape((-1,) + (1,) * (x.ndim - 2))
    per_channel = by_channel(w_scale, x.ndim - 1)
    assert per_channel is not None
    return saturated(total * (x_scale * per_channel / y_scale), y_zero_point, y_zero_point.dtype)


VERSIONS = {10: fast}

# The convolution is an exact integer; what follows are single operations.
EXACT = VERSIONS
