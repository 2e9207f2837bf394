"""Resampling one axis at a time: where each output looks, and with which weights.

Coordinates are computed in float32, as ONNX Runtime does, so that both sides
round a tie the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_HALF = np.float32(0.5)


@dataclass(frozen=True)
class Axis:
    """One axis to resample: sizes, scale, and the region of interest of tf_crop_and_resize.

    ``length`` is the resized length as coordinates count it: ``output``, or since
    opset 19 the exact product of size and scale, which need not be whole.
    """

    size: int
    output: int
    scale: float
    length: float
    roi: tuple[float, float] = (0.0, 1.0)


def coordinates(axis: Axis, mode: str) -> np.ndarray:
    """Where every output position lies in the input, as float32.

    Raises:
        ValueError: an unknown ``coordinate_transformation_mode``.
    """
    x = np.arange(axis.output, dtype=np.float32)
    scale = np.float32(axis.scale)
    last = np.float32(axis.size - 1)
    if mode == "half_pixel":
        return (x + _HALF) / scale - _HALF
    if mode == "pytorch_half_pixel":
        return (x + _HALF) / scale - _HALF if axis.output > 1 else np.zeros_like(x)
    if mode == "align_corners":
        return x * last / np.float32(axis.length - 1) if axis.length > 1 else np.zeros_like(x)
    if mode == "asymmetric":
        return x / scale
    if mode == "tf_half_pixel_for_nn":
        return (x + _HALF) / scale
    if mode == "half_pixel_symmetric":
        adjustment = np.float32(axis.output / axis.length)
        offset = np.float32(axis.size) * _HALF * (np.float32(1) - adjustment)
        return offset + (x + _HALF) / scale - _HALF
    if mode == "tf_crop_and_resize":
        start, end = (np.float32(bound) for bound in axis.roi)
        if axis.output > 1:
            return start * last + x * (end - start) * last / np.float32(axis.output - 1)
        return np.full_like(x, _HALF * (start + end) * last)
    raise ValueError(
        f"coordinate_transformation_mode={mode!r}; write half_pixel, half_pixel_symmetric, "
        "pytorch_half_pixel, align_corners, asymmetric, tf_half_pixel_for_nn "
        "or tf_crop_and_resize"
    )


def nearest_index(position: np.ndarray, axis: Axis, mode: str) -> np.ndarray:
    """The one input index per output, kept inside.

    ``simple`` is the rule of opsets before 11: down for enlarging, up for shrinking.

    Raises:
        ValueError: an unknown ``nearest_mode``.
    """
    if mode == "round_prefer_floor":
        index = np.ceil(position - _HALF)
    elif mode == "round_prefer_ceil":
        index = np.floor(position + _HALF)
    elif mode == "floor" or (mode == "simple" and axis.scale >= 1):
        index = np.floor(position)
    elif mode in ("ceil", "simple"):
        index = np.ceil(position)
    else:
        raise ValueError(
            f"nearest_mode={mode!r}; write round_prefer_floor, round_prefer_ceil, floor or ceil"
        )
    return np.clip(index.astype(np.int64), 0, axis.size - 1)


def weighted_taps(
    position: np.ndarray, axis: Axis, mode: str, cubic: float, antialias: bool, exclude: bool
) -> tuple[np.ndarray, np.ndarray]:
    """(index, weight), both (outputs, taps), of linear or cubic interpolation.

    ``antialias`` stretches the filter where the axis shrinks. ``exclude`` gives
    taps outside no weight; otherwise they repeat the edge.
    """
    stretch = min(axis.scale, 1.0) if antialias else 1.0
    radius = 2 if mode == "cubic" else 1
    base = np.floor(position).astype(np.int64)
    first = int(np.floor(-radius / stretch)) + 1
    taps = np.arange(first, 2 - first)
    index = base[:, None] + taps
    distance = np.abs(index - position[:, None].astype(np.float64)) * stretch
    weight = _cubic(distance, cubic) if mode == "cubic" else np.clip(1 - distance, 0, None)
    if exclude:
        weight[(index < 0) | (index >= axis.size)] = 0.0
    if exclude or stretch < 1.0:
        total = sum(weight[:, k, None] for k in range(weight.shape[1]))  # in one order everywhere
        weight /= np.where(total == 0, 1.0, total)
    return np.clip(index, 0, axis.size - 1), weight


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def resample(x: np.ndarray, axis: int, index: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The weighted sum of taps along ``axis`` of a float array."""
    along = (-1,) + (1,) * (x.ndim - axis - 1)
    result = None
    for k in range(index.shape[1]):
        part = np.take(x, index[:, k], axis=axis)
        part *= weight[:, k].astype(x.dtype).reshape(along)
        if result is None:
            result = part
        else:
            result += part
    assert result is not None
    return result


def output_sizes(size: Sequence[int], scales: Sequence[float]) -> list[int]:
    """floor(size * scale), multiplied in float32 like shape inference does."""
    return [int(np.floor(np.float32(n) * np.float32(s))) for n, s in zip(size, scales, strict=True)]
