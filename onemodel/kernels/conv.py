"""ONNX Conv (since 1, 11, 22): N-dimensional cross-correlation with groups."""

import math
from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import Window, padded, window

NODE_TYPE = "Conv"

_COLUMN_BYTES = 8 << 20
"""Unfolded columns of as many images as fit here are multiplied at once."""


def fast(
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Cross-correlate (N, C, D1..Dn) with (M, C/group, k1..kn), plus a bias per M.

    float16 and bfloat16 accumulate in float32.

    Raises:
        ValueError: channels that do not match the groups, or a window that does not fit.
    """
    if x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise ValueError(
            f"Conv: {x.shape[1]} input channels and weight {w.shape} do not fit {group} group(s)"
        )
    view = window(
        x.shape[2:],
        kernel_shape or w.shape[2:],
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
    )
    result = correlate(widen(x), widen(w), group, view)
    if b is not None:
        result += widen(b).reshape((-1,) + (1,) * (x.ndim - 2))
    return result.astype(x.dtype, copy=False)


def correlate(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    """The plain sum of products, by the form that suits the sizes."""
    if 0 in x.shape or 0 in view.output:
        return np.zeros((x.shape[0], w.shape[0], *view.output), x.dtype)
    source = padded(x, view)
    if math.prod(view.kernel) == 1:
        return _pointwise(source, w, group, view)
    if w.shape[1] == 1 and group > 1:
        return _depthwise(source, w, view)
    wide_enough = w.shape[1] >= 32 and w.shape[0] >= 32 and math.prod(view.output) >= 256
    if group == 1 and wide_enough and set(view.strides) == {1}:
        return _shifted(source, w, view)
    return _unfolded(source, w, group, view)


def _pointwise(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    batch, channels = x.shape[:2]
    outputs, positions = w.shape[0], math.prod(view.output)
    columns = x[(Ellipsis, *view.slices((0,) * len(view.kernel)))]
    if positions == 1 and group == 1:
        rows = columns.reshape(batch, channels) @ w.reshape(outputs, channels).T
        return rows.reshape(batch, outputs, *view.output)
    if group == 1:
        result = np.matmul(w.reshape(outputs, channels), columns.reshape(batch, channels, -1))
    else:
        result = np.matmul(
            w.reshape(group, outputs // group, -1),
            columns.reshape(batch, group, channels // group, -1),
        )
    return result.reshape(batch, outputs, *view.output)


def _shifted(x: np.ndarray, w: np.ndarray, view: Window) -> np.ndarray:
    """One product per kernel position on shifted flat images; rows keep the padded width.

    Needs stride 1. The columns beyond the output width are computed and cut off,
    which costs less than unfolding.
    """
    batch, channels = x.shape[:2]
    outputs = w.shape[0]
    spatial = x.shape[2:]
    steps = np.cumprod([1, *spatial[:0:-1]])[::-1].tolist()
    length = sum((n - 1) * step for n, step in zip(view.output, steps, strict=True)) + 1
    flat = np.ascontiguousarray(x).reshape(batch, channels, -1)
    result = np.empty((batch, outputs, *view.output), x.dtype)
    weights = np.ascontiguousarray(np.moveaxis(w.reshape(outputs, channels, -1), 2, 0))
    wide = np.empty((outputs, view.output[0] * steps[0]), x.dtype)
    total, part = wide[:, :length], np.empty((outputs, length), x.dtype)
    for image in range(batch):
        for i, offset in enumerate(view.offsets()):
            shift = sum(
                o * d * step for o, d, step in zip(offset, view.dilations, steps, strict=True)
            )
            columns = flat[image][:, shift : shift + length]
            if i == 0:
                np.matmul(weights[0], columns, out=total)
            else:
                np.matmul(weights[i], columns, out=part)
                total += part
        grid = wide.reshape(outputs, view.output[0], *spatial[1:])
        result[image] = grid[(Ellipsis, *(slice(n) for n in view.output))]
    return result


def _depthwise(x: np.ndarray, w: np.ndarray, view: Window) -> np.ndarray:
    """Each channel with its own kernels: multiply and add shifted views, a few channels at once."""
    batch, channels = x.shape[:2]
    multiplier = w.shape[0] // channels
    rank = len(view.output)
    result = np.empty((batch, channels, multiplier, *view.output), x.dtype)
    weights = w.reshape(channels, multiplier, -1)
    block = max(1, (1 << 15) // max(1, math.prod(view.output)))
    work = np.empty((min(block, channels), *view.output), x.dtype)
    for image, start in ((n, c) for n in range(batch) for c in range(0, channels, block)):
        source = x[image, start : start + block]
        part = work[: source.shape[0]]
        for m in range(multiplier):
            target = result[image, start : start + block, m]
            for i, offset in enumerate(view.offsets()):
                factor = weights[start : start + block, m, i].reshape((-1,) + (1,) * rank)
                shifted = source[(slice(None), *view.slices(offset))]
                if i == 0:
                    np.multiply(shifted, factor, out=target)
                else:
                    np.multiply(shifted, factor, out=part)
                    target += part
    return result.reshape(batch, channels * multiplier, *view.output)


def _unfolded(x: np.ndarray, w: np.ndarray, group: int, view: Window) -> np.ndarray:
    """Copy every window into a column, then one matrix product per group and image."""
    batch, channels = x.shape[:2]
    outputs = w.shape[0]
    taps, positions = math.prod(view.kernel), math.prod(view.output)
    weights = w.reshape(group, outputs // group, -1)
    per_image = channels * taps * positions * x.itemsize
    chunk = min(batch, max(1, _COLUMN_BYTES // per_image))
    columns = np.empty((chunk, channels, *view.kernel, *view.output), x.dtype)
    result = np.empty((batch, group, outputs // group, positions), x.dtype)
    for start in range(0, batch, chunk):
        source = x[start : start + chunk]
        part = columns[: source.shape[0]]
        for offset in view.offsets():
            part[(slice(None), slice(None), *offset)] = source[(Ellipsis, *view.slices(offset))]
        np.matmul(
            weights,
            part.reshape(source.shape[0], group, -1, positions),
            out=result[start : start + chunk],
        )
    return result.reshape(batch, outputs, *view.output)


VERSIONS = {1: fast}
