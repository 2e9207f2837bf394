"""Resampling one axis: which inputs each output is made of, with which weights, as PyTorch does.

Every mode is linear in the values, so an axis is either a list of taps (forward) or a matrix
(gradient, and graphs of opsets that have no Resize of that kind).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MODES = {"nearest": 0, "nearest-exact": 0, "linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2}
"""Interpolation mode to the number of spatial axes it needs; 0: any."""


@dataclass(frozen=True)
class Axis:
    """One axis: sizes, and how many inputs one output stands for (``step``)."""

    size: int
    output: int
    step: float
    align_corners: bool = False
    antialias: bool = False

    @property
    def same(self) -> bool:
        return self.size == self.output and (self.step == 1 or self.align_corners)


def taps(axis: Axis, mode: str) -> tuple[np.ndarray, np.ndarray | None]:
    """(index, weight), both (outputs, taps); nearest modes: (index (outputs,), None)."""
    if mode.startswith("nearest"):
        return nearest(axis, mode), None
    cubic = mode == "bicubic"
    if axis.antialias:
        return _antialiased(axis, cubic)
    out = np.arange(axis.output, dtype=np.float64)
    if axis.align_corners:
        position = out * ((axis.size - 1) / (axis.output - 1)) if axis.output > 1 else out * 0
    else:
        position = (out + 0.5) * axis.step - 0.5
    if not cubic:
        position = np.maximum(position, 0)
    base = np.floor(position).astype(np.int64)
    part = position - base
    if not cubic:
        index = np.stack((base, base + 1), axis=1)
        weight = np.stack((1 - part, part), axis=1)
    else:
        index = base[:, None] + np.arange(-1, 3)
        weight = _cubic(np.abs(part[:, None] - np.arange(-1, 3)), -0.75)
    return np.clip(index, 0, axis.size - 1), weight


def nearest(axis: Axis, mode: str) -> np.ndarray:
    """Index per output, in float32 as PyTorch computes it."""
    out = np.arange(axis.output, dtype=np.float32)
    if mode == "nearest-exact":
        out += np.float32(0.5)
    index = np.floor(out * np.float32(axis.step)).astype(np.int64)
    return np.minimum(index, axis.size - 1)


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * distance - (a + 3)) * distance * distance + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0.0))


def _antialiased(axis: Axis, cubic: bool) -> tuple[np.ndarray, np.ndarray]:
    """The filter widened where the axis shrinks; weights outside fall away."""
    width = max(axis.step, 1.0)
    support = (2 if cubic else 1) * width
    centre = axis.step * (np.arange(axis.output) + 0.5)
    first = np.maximum((centre - support + 0.5).astype(np.int64), 0)
    last = np.minimum((centre + support + 0.5).astype(np.int64), axis.size)
    index = first[:, None] + np.arange(int((last - first).max()))
    distance = np.abs((index - centre[:, None] + 0.5) / width)
    weight = _cubic(distance, -0.5) if cubic else np.maximum(1 - distance, 0)
    weight[index >= last[:, None]] = 0
    weight /= weight.sum(axis=1, keepdims=True)
    return np.clip(index, 0, axis.size - 1), weight


def matrix(axis: Axis, mode: str, dtype: np.dtype) -> np.ndarray:
    """(outputs, inputs): the axis as a linear map."""
    index, weight = taps(axis, mode)
    if weight is None:
        index, weight = index[:, None], np.ones((axis.output, 1))
    result = np.zeros((axis.output, axis.size))
    np.add.at(result, (np.arange(axis.output)[:, None], index), weight)
    return result.astype(dtype)


def resample(x: np.ndarray, dim: int, axis: Axis, mode: str) -> np.ndarray:
    """``x`` with one axis resampled."""
    index, weight = taps(axis, mode)
    if weight is None:
        return np.take(x, index, axis=dim)
    along = (-1,) + (1,) * (x.ndim - dim - 1)
    result: np.ndarray | None = None
    for k in range(index.shape[1]):
        part = np.take(x, index[:, k], axis=dim)
        part *= weight[:, k].astype(x.dtype).reshape(along)
        if result is None:
            result = part
        else:
            result += part
    assert result is not None
    return result


def transpose(grad: np.ndarray, dim: int, axis: Axis, mode: str) -> np.ndarray:
    """The gradient with respect to the input of :func:`resample`."""
    weights = matrix(axis, mode, grad.dtype)
    if dim == grad.ndim - 1:
        return np.matmul(grad, weights)
    moved = np.matmul(np.moveaxis(grad, dim, -1), weights)
    return np.moveaxis(moved, -1, dim)
