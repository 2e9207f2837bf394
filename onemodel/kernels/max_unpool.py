"""ONNX MaxUnpool (since 9, 11, 22): maxima put back where MaxPool found them."""

import math
from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "MaxUnpool"


def fast(
    x: np.ndarray,
    indices: np.ndarray,
    output_shape: np.ndarray | None = None,
    *,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Zeros with ``x`` at its ``indices``, linear in the shape that the pooling inverts to.

    ``output_shape`` pads that shape with zeros at the high ends.
    """
    rank = len(kernel_shape)
    step = strides or (1,) * rank
    around = pads or (0,) * (2 * rank)
    spatial = [
        (n - 1) * s - around[i] - around[i + rank] + k
        for i, (n, s, k) in enumerate(zip(x.shape[2:], step, kernel_shape, strict=True))
    ]
    shape = (*x.shape[:2], *spatial)
    result = np.zeros(math.prod(shape), x.dtype)
    result[indices.reshape(-1)] = x.reshape(-1)
    result = result.reshape(shape)
    if output_shape is None or integers(output_shape) == list(shape):
        return result
    larger = np.zeros(integers(output_shape), x.dtype)
    larger[tuple(slice(n) for n in shape)] = result
    return larger


VERSIONS = {9: fast}
