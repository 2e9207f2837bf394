"""ONNX MaxPool (since 1, 8, 10, 11, 12, 22): maximum over sliding windows."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import lowest
from onemodel.kernels._windows import Window, padded, window

NODE_TYPE = "MaxPool"


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
    result = padded(x, view, lowest(x.dtype))
    # The last axis last: the early passes run over long contiguous rows.
    for axis, kernel in enumerate(view.kernel):
        result = _along(result, axis + 2, kernel, view.dilations[axis], view, axis)
    return np.ascontiguousarray(result)


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
    source = padded(x, view, lowest(x.dtype))
    order = "F" if storage_order else "C"
    numbers = np.arange(int(np.prod(view.size)), dtype=np.int64).reshape(view.size, order=order)
    numbers = padded(numbers, view, -1)
    best = index = None
    for offset in view.offsets():
        where = (Ellipsis, *view.slices(offset))
        candidate, number = source[where], numbers[where]
        if best is None or index is None:
            best = candidate.copy()
            index = np.broadcast_to(number, candidate.shape).copy()
            continue
        # NaN wins like in np.maximum; a real element wins over padding of the same value.
        wins = (candidate > best) | (candidate != candidate) | ((index < 0) & (number >= 0))
        np.copyto(best, candidate, where=wins)
        np.copyto(index, number, where=wins)
    assert best is not None and index is not None
    planes = np.arange(x.shape[0] * x.shape[1], dtype=np.int64) * int(np.prod(view.size))
    index += planes.reshape(x.shape[:2] + (1,) * len(view.size))
    return best, index


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
