"""ONNX Col2Im (since 18): columns of windows added back into an image."""

import math
from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers
from onemodel.kernels._windows import window

NODE_TYPE = "Col2Im"


def fast(
    x: np.ndarray,
    image_shape: np.ndarray,
    block_shape: np.ndarray,
    *,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """(N, C * prod(block), L) to (N, C, *image): every window's values added where they lie.

    Raises:
        ValueError: the columns do not fit the windows.
    """
    image, block = integers(image_shape), integers(block_shape)
    view = window(image, block, strides=strides, dilations=dilations, pads=pads)
    batch, rows, positions = x.shape
    taps = math.prod(block)
    if rows % taps or positions != math.prod(view.output):
        raise ValueError(
            f"Col2Im: columns {x.shape} do not fit blocks of {block} "
            f"with {math.prod(view.output)} positions"
        )
    channels = rows // taps
    columns = x.reshape(batch, channels, *block, *view.output)
    full = [
        max(reach, begin + size)
        for reach, begin, size in zip(view.needed(), view.begins, view.size, strict=True)
    ]
    result = np.zeros((batch, channels, *full), x.dtype)
    for offset in view.offsets():
        source = columns[(slice(None), slice(None), *offset)]
        result[(Ellipsis, *view.slices(offset))] += source
    where = tuple(slice(b, b + n) for b, n in zip(view.begins, view.size, strict=True))
    return np.ascontiguousarray(result[(Ellipsis, *where)])


VERSIONS = {18: fast}

# Windows are added tap by tap.
EXACT = VERSIONS
