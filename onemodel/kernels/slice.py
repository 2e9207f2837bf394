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
    if step > 0 or end >= 0:
        return slice(start, end, step)
    # Backwards, an end before the first element means "through the first element".
    return slice(start, None if end + size < 0 else end, step)


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
