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
    """Zeros with ``x`` at its ``indices``, which count in the shape of the pooled array.

    That shape is ``output_shape`` where the indices lie in their windows there;
    otherwise it is the shape that the window attributes invert to, and
    ``output_shape`` only adds zeros at the high ends.
    """
    rank = len(kernel_shape)
    step = tuple(strides or (1,) * rank)
    around = tuple(pads or (0,) * (2 * rank))
    spatial = [
        (n - 1) * s - around[i] - around[i + rank] + k
        for i, (n, s, k) in enumerate(zip(x.shape[2:], step, kernel_shape, strict=True))
    ]
    inverted = (*x.shape[:2], *spatial)
    wanted = inverted if output_shape is None else tuple(integers(output_shape))
    if wanted == inverted or _in_windows(indices, wanted, kernel_shape, step, around):
        return _placed(x, indices, wanted)
    result = np.zeros(wanted, x.dtype)
    result[tuple(slice(n) for n in inverted)] = _placed(x, indices, inverted)
    return result


def _placed(x: np.ndarray, indices: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    result = np.zeros(math.prod(shape), x.dtype)
    result[indices.reshape(-1)] = x.reshape(-1)
    return result.reshape(shape)


def _in_windows(
    indices: np.ndarray,
    shape: tuple[int, ...],
    kernel: Sequence[int],
    strides: Sequence[int],
    pads: Sequence[int],
) -> bool:
    """Whether every index, read in ``shape``, lies in the window it was pooled from."""
    if indices.size and indices.max() >= math.prod(shape):
        return False
    places = np.unravel_index(indices, shape)[2:]
    for axis, place in enumerate(places):
        along = (-1,) + (1,) * (len(kernel) - axis - 1)
        start = np.arange(indices.shape[axis + 2]) * strides[axis] - pads[axis]
        inside = place - start.reshape(along)
        if ((inside < 0) | (inside >= kernel[axis])).any():
            return False
    return True


VERSIONS = {9: fast}

# NumPy writes repeated indices in order.
EXACT = VERSIONS
