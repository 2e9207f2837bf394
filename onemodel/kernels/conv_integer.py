"""ONNX ConvInteger (since 10): int32 convolution of 8-bit arrays."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels import conv
from onemodel.kernels._quantize import by_channel, centred

NODE_TYPE = "ConvInteger"


def fast(
    x: np.ndarray,
    w: np.ndarray,
    x_zero_point: np.ndarray | None = None,
    w_zero_point: np.ndarray | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Conv of x - x_zero_point and w - w_zero_point, exactly; padding means zero_point."""
    # float64 holds every sum of products of 9-bit integers exactly.
    result = conv.fast(
        centred(x, x_zero_point).astype(np.float64),
        centred(w, by_channel(w_zero_point, w.ndim)).astype(np.float64),
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return result.astype(np.int64).astype(np.int32)


VERSIONS = {10: fast}

# Every partial sum is an integer that float64 holds, in whatever order BLAS adds.
EXACT = VERSIONS
