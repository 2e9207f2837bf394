"""ONNX DeformConv (since 19, 22): convolution whose samples move by learned offsets."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import Window, window
from onemodel.kernels.exact import product as exact_product

NODE_TYPE = "DeformConv"


def _convolved(
    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray],
    x: np.ndarray,
    w: np.ndarray,
    offset: np.ndarray,
    b: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    *,
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    offset_group: int = 1,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """x (N, C, H, W) and w (M, C/group, kh, kw) to (N, M, oh, ow).

    ``offset`` (N, offset_group * kh * kw * 2, oh, ow) moves each sample by (y, x);
    ``mask`` (N, offset_group * kh * kw, oh, ow) scales it. Samples are bilinear, zero
    outside.

    Raises:
        ValueError: shapes that do not belong together.
    """
    if x.ndim != 4:
        raise ValueError(f"DeformConv: rank {x.ndim} is not supported; images are (N, C, H, W)")
    view = window(
        x.shape[2:],
        kernel_shape or w.shape[2:],
        strides=strides,
        dilations=dilations,
        pads=pads,
    )
    batch, channels = x.shape[:2]
    taps, positions = math.prod(view.kernel), math.prod(view.output)
    if offset.shape[1:] != (offset_group * taps * 2, *view.output) or channels % offset_group:
        raise ValueError(
            f"DeformConv: offsets {offset.shape} do not fit {offset_group} group(s) of "
            f"{taps} taps over {view.output}"
        )
    image = widen(x).reshape(batch, offset_group, channels // offset_group, -1)
    moved = widen(offset).reshape(batch, offset_group, taps, 2, *view.output)
    scale = None if mask is None else widen(mask).reshape(batch, offset_group, taps, -1)
    columns = _sampled(image, moved, scale, view)
    columns = columns.reshape(batch, group, channels // group * taps, positions)
    weights = widen(w).reshape(group, w.shape[0] // group, -1)
    result = matmul(weights, columns).reshape(batch, w.shape[0], *view.output)
    if b is not None:
        result += widen(b).reshape(-1, 1, 1)
    return result.astype(x.dtype, copy=False)


def _sampled(
    image: np.ndarray, moved: np.ndarray, scale: np.ndarray | None, view: Window
) -> np.ndarray:
    """(N, G, C/G, taps, positions): every sample, weighted."""
    batch, groups, channels, _ = image.shape
    taps = moved.shape[2]
    height, width = view.size
    offsets = np.array(list(view.offsets())) * view.dilations
    places = []
    for axis in range(2):
        start = np.arange(view.output[axis]) * view.strides[axis] - view.begins[axis]
        along = start[:, None] if axis == 0 else start[None, :]
        place = moved[:, :, :, axis] + along + offsets[:, axis].reshape(-1, 1, 1)
        places.append(place.reshape(batch, groups, taps, -1))
    y, x = places
    top, left = np.floor(y), np.floor(x)
    result = np.zeros((batch, groups, channels, taps, y.shape[-1]), image.dtype)
    for dy, dx in ((0, 0), (0, 1), (1, 0), (1, 1)):
        row, column = top + dy, left + dx
        weight = (1 - np.abs(y - row)) * (1 - np.abs(x - column))
        weight = weight * ((row >= 0) & (row < height) & (column >= 0) & (column < width))
        if scale is not None:
            weight = weight * scale
        index = np.clip(row, 0, height - 1) * width + np.clip(column, 0, width - 1)
        flat = index.astype(np.int64).reshape(batch, groups, 1, -1)
        picked = np.take_along_axis(image, flat, axis=3).reshape(result.shape)
        result += picked * weight[:, :, None].astype(image.dtype)
    return result


fast = partial(_convolved, np.matmul)
exact = partial(_convolved, exact_product.matmul)

VERSIONS = {19: fast}
EXACT = {19: exact}
