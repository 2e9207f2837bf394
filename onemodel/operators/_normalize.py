"""Normalisation per image and group of channels: gradients of group and instance norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._normalize import normalized_groups
from onemodel.symbolic.helpers import unsqueeze


def forward(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    groups: int,
    eps: float,
) -> np.ndarray:
    """(N, C, ...) with zero mean and unit variance per group, times weight, plus bias per C."""
    channels = input.shape[1]
    scale = np.ones(channels, input.dtype) if weight is None else weight
    shift = np.zeros(channels, input.dtype) if bias is None else bias
    return normalized_groups(input, groups, scale, shift, eps)


def backward(
    input: np.ndarray,
    weight: np.ndarray | None,
    grad: np.ndarray,
    groups: int,
    eps: float,
    needs: Any,
) -> tuple[np.ndarray | None, ...]:
    """Gradients of input, weight and bias, as many as ``needs`` has."""
    grads: list[np.ndarray | None] = [None] * len(needs)
    if not input.size:
        shapes = (input.shape, input.shape[1:2], input.shape[1:2])
        return tuple(np.zeros(shape, grad.dtype) for shape in shapes[: len(needs)])
    x, gradient = widen(input), widen(grad)
    rows = x.reshape(len(x) * groups, -1)
    normal = rows - rows.mean(axis=1, keepdims=True)
    variance = np.square(normal).mean(axis=1, keepdims=True)
    inverse = 1 / np.sqrt(variance + x.dtype.type(eps))
    normal *= inverse
    others = (0, *range(2, x.ndim))
    if len(needs) > 1 and needs[1]:
        grads[1] = (gradient * normal.reshape(x.shape)).sum(axis=others)
    if len(needs) > 2 and needs[2]:
        grads[2] = gradient.sum(axis=others)
    if needs[0]:
        if weight is not None:
            gradient = gradient * widen(weight).reshape((-1,) + (1,) * (x.ndim - 2))
        scaled = gradient.reshape(rows.shape)
        along = (scaled * normal).mean(axis=1, keepdims=True)
        dx = scaled - scaled.mean(axis=1, keepdims=True)
        dx -= normal * along
        dx *= inverse
        grads[0] = dx.reshape(x.shape)
    return tuple(grads)


def per_channel(g: Any, value: Any, rank: int) -> Any:
    """A [C] operand as [C, 1, ...], to be broadcast against [N, C, ...]."""
    return unsqueeze(g, value, list(range(1, rank - 1)))


def reference(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    num_groups: int = 1,
    eps: float = 1e-5,
) -> np.ndarray:
    """Image by image and group by group, in float64."""
    x = np.asarray(input, np.float64)
    result = np.empty_like(x)
    size = x.shape[1] // num_groups
    for n in range(len(x)):
        for first in range(0, x.shape[1], size):
            part = x[n, first : first + size]
            centred = part - part.sum() / np.float64(part.size)
            variance = (centred**2).sum() / np.float64(part.size)
            result[n, first : first + size] = centred / np.sqrt(variance + eps)
    channel = (-1,) + (1,) * (x.ndim - 2)
    result = result if weight is None else result * np.asarray(weight).reshape(channel)
    return result if bias is None else result + np.asarray(bias).reshape(channel)
