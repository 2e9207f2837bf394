"""ONNX MaxPool (since 1, 8, 10, 11, 12, 22): maximum over sliding windows."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.kernels._dtypes import lowest
from onemodel.kernels._windows import Window, padded, window
from onemodel.kernels.exact.nan import with_positive_zero

NODE_TYPE = "MaxPool"

Tap = tuple[Any, ...]
"""The index that reads one kernel position of every window."""

_NONE = 255
"""No tap; larger kernels are searched element by element."""


def fast(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(maximum, int64 index into the flattened input) of every window over (N, C, D1..Dn).

    Padding never wins. ``storage_order=1`` counts the spatial axes column-major.
    """
    view = window(
        x.shape[2:],
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    return _with_indices(x, view, storage_order)


def values(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """The first output of :func:`fast` alone, one axis after the other."""
    view = window(
        x.shape[2:],
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    result = padded(x, view, lowest(x.dtype), work=True)
    # The last axis last: the early passes run over long contiguous rows.
    for axis, kernel in enumerate(view.kernel):
        result = _along(result, axis + 2, kernel, view.dilations[axis], view, axis)
    # Windows of one element never left the work memory.
    return np.ascontiguousarray(result) if max(view.kernel) > 1 else result.copy()


def _along(
    x: np.ndarray, axis: int, kernel: int, dilation: int, view: Window, spatial: int
) -> np.ndarray:
    stride, count = view.strides[spatial], view.output[spatial]
    lead = (slice(None),) * axis

    def shifted(offset: int) -> np.ndarray:
        start = offset * dilation
        return x[(*lead, slice(start, start + (count - 1) * stride + 1, stride))]

    if kernel == 1:
        return shifted(0)
    result = np.maximum(shifted(0), shifted(1))
    for offset in range(2, kernel):
        np.maximum(result, shifted(offset), out=result)
    return result


def _with_indices(x: np.ndarray, view: Window, storage_order: int) -> tuple[np.ndarray, np.ndarray]:
    source = padded(x, view, lowest(x.dtype), work=True)
    order = "F" if storage_order else "C"
    numbers = np.arange(math.prod(view.size), dtype=np.int64).reshape(view.size, order=order)
    numbers = padded(numbers, view, -1)
    taps = [(Ellipsis, *view.slices(offset)) for offset in view.offsets()]
    best = source[taps[0]].copy()
    for tap in taps[1:]:
        np.maximum(best, source[tap], out=best)
    index = _first_equal(source, numbers, taps, best)
    if index is None:
        index = _first_winner(source, numbers, taps)
    planes = np.arange(x.shape[0] * x.shape[1], dtype=np.int64) * math.prod(view.size)
    index += planes.reshape(x.shape[:2] + (1,) * len(view.size))
    return best, index


def _first_equal(
    source: np.ndarray, numbers: np.ndarray, taps: list[Tap], best: np.ndarray
) -> np.ndarray | None:
    """The number of the first element of each window that equals the maximum.

    Taps are compared as bytes, which costs a fraction of moving 64-bit numbers under
    a mask. None where a window has no equal element (NaN), or only padding.
    """
    if len(taps) > _NONE:
        return None
    first = np.full(best.shape, _NONE, np.uint8)
    for number, tap in enumerate(taps):
        # 255 where the element is smaller, the tap's number where it is equal.
        key = np.not_equal(source[tap], best).view(np.uint8)
        key *= np.uint8(_NONE)
        key |= np.uint8(number)
        np.minimum(first, key, out=first)
    if first.max(initial=0) == _NONE:
        return None
    table = np.stack([numbers[tap] for tap in taps], axis=-1)
    flat = np.arange(table.size // len(taps)).reshape(table.shape[:-1]) * len(taps)
    index = np.take(table.reshape(-1), flat + first)
    return index if index.min(initial=0) >= 0 else None


def _first_winner(source: np.ndarray, numbers: np.ndarray, taps: list[Tap]) -> np.ndarray:
    """The same, element by element: NaN wins over numbers, elements over padding."""
    best = source[taps[0]].copy()
    index = np.broadcast_to(numbers[taps[0]], best.shape).copy()
    for tap in taps[1:]:
        candidate, number = source[tap], numbers[tap]
        wins = (candidate > best) | (candidate != candidate) | ((index < 0) & (number >= 0))
        np.copyto(best, candidate, where=wins)
        np.copyto(index, number, where=wins)
    return index


def max_pool_8(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    storage_order: int = 0,
    strides: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Opset 8: neither dilations nor ceil_mode."""
    return fast(
        x,
        auto_pad=auto_pad,
        kernel_shape=kernel_shape,
        pads=pads,
        storage_order=storage_order,
        strides=strides,
    )


def max_pool_1(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: the values alone."""
    return values(x, auto_pad=auto_pad, kernel_shape=kernel_shape, pads=pads, strides=strides)


VERSIONS = {1: max_pool_1, 8: max_pool_8, 10: fast}
FIRST_OUTPUT = {8: values, 10: values}
EXACT = {since: with_positive_zero(kernel) for since, kernel in VERSIONS.items()}
EXACT_FIRST_OUTPUT = {since: with_positive_zero(kernel) for since, kernel in FIRST_OUTPUT.items()}
