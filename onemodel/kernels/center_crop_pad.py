"""ONNX CenterCropPad (since 18): cropped or zero-padded around the centre."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers, normalized_axes

NODE_TYPE = "CenterCropPad"


def fast(x: np.ndarray, shape: np.ndarray, *, axes: Sequence[int] | None = None) -> np.ndarray:
    """``x`` with ``axes`` (default all) of the sizes ``shape``, keeping the centre."""
    where = normalized_axes(axes, x.ndim, range(x.ndim))
    sizes = list(x.shape)
    source, target = [slice(None)] * x.ndim, [slice(None)] * x.ndim
    for axis, size in zip(where, integers(shape), strict=True):
        have = x.shape[axis]
        kept = min(have, size)
        crop, pad = (have - kept) // 2, (size - kept) // 2
        source[axis], target[axis] = slice(crop, crop + kept), slice(pad, pad + kept)
        sizes[axis] = size
    result = np.zeros(sizes, x.dtype)
    result[tuple(target)] = x[tuple(source)]
    return result


VERSIONS = {18: fast}
EXACT = VERSIONS
