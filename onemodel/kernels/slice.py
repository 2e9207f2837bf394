"""ONNX Slice (since 1, 10, 11, 13): a strided part along some axes."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Slice"


def fast(
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    axes: np.ndarray | None = None,
    steps: np.ndarray | None = None,
) -> np.ndarray:
    """A view from ``starts`` to ``ends`` (clamped; negative counts from the end)."""
    first, last = integers(starts), integers(ends)
    where = integers(axes) if axes is not None else list(range(len(first)))
    stride = integers(steps) if steps is not None else [1] * len(first)
    index = [slice(None)] * data.ndim
    for axis, start, end, step in zip(where, first, last, stride, strict=True):
        index[axis] = _python_slice(start, end, step, data.shape[axis])
    return data[tuple(index)]


def _python_slice(start: int, end: int, step: int, size: int) -> slice:
    """ONNX clamps both bounds into the axis; Python reads a clamped -1 as the last element."""
    if start < 0:
        start += size
    if end < 0:
        end += size
    if step > 0:
        return slice(max(start, 0), max(end, 0), step)
    start, end = min(max(start, 0), size - 1), min(max(end, -1), size - 1)
    return slice(start, None if end < 0 else end, step) if size else slice(0, 0, step)


def slice_1(
    data: np.ndarray,
    *,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: everything is an attribute, steps are one."""
    where = None if axes is None else np.asarray(axes)
    return fast(data, np.asarray(starts), np.asarray(ends), where)


VERSIONS = {1: slice_1, 10: fast}
EXACT = VERSIONS
