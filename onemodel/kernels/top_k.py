"""ONNX TopK (since 1, 10, 11, 24): the k largest or smallest elements along an axis."""

import numpy as np

from onemodel.kernels._dtypes import widen

NODE_TYPE = "TopK"

_WORTH_SELECTING = 4
"""From k times this many elements on, selecting first beats sorting everything."""


def fast(
    x: np.ndarray, k: np.ndarray, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Values and int64 indices, sorted; of equal elements the lower index comes first."""
    count, size = int(k.item()), x.shape[axis]
    if not 0 <= count <= size:
        raise ValueError(f"TopK: k={count} does not fit axis {axis} of size {size}")
    rows = np.moveaxis(widen(x), axis, -1)
    index = None
    if 0 < count * _WORTH_SELECTING <= size:
        index = _selected(rows, count, bool(largest))
    if index is None:
        index = _stable_order(rows, bool(largest))[..., :count]
    index = np.moveaxis(index, -1, axis).astype(np.int64, copy=False)
    return np.take_along_axis(x, index, axis=axis), index


def _stable_order(x: np.ndarray, largest: bool) -> np.ndarray:
    if not largest:
        return np.argsort(x, axis=-1, kind="stable")
    # Descending and stable: sort the reversed rows upwards, then read them backwards.
    backwards = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return x.shape[-1] - 1 - backwards


def _selected(x: np.ndarray, count: int, largest: bool) -> np.ndarray | None:
    """The order of the best ``count`` alone, found by their threshold; None with NaN about."""
    size = x.shape[-1]
    place = size - count if largest else count - 1
    threshold = np.partition(x, place, axis=-1)[..., place, None]
    better = x > threshold if largest else x < threshold
    ties = x == threshold
    room = count - np.count_nonzero(better, axis=-1, keepdims=True)
    better |= ties & (np.cumsum(ties, axis=-1) <= room)
    if not (np.count_nonzero(better, axis=-1) == count).all() or (x != x).any():
        return None
    index = np.nonzero(better)[-1].reshape(*x.shape[:-1], count)
    order = _stable_order(np.take_along_axis(x, index, axis=-1), largest)
    return np.take_along_axis(index, order, axis=-1)


def top_k_10(x: np.ndarray, k: np.ndarray, *, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Opset 10: always the largest, sorted."""
    return fast(x, k, axis=axis)


def top_k_1(x: np.ndarray, *, axis: int = -1, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Opset 1: k is an attribute."""
    return fast(x, np.asarray(k), axis=axis)


VERSIONS = {1: top_k_1, 10: top_k_10, 11: fast}

# Both ways order stably, so that ties do not depend on the processor's sort.
EXACT = VERSIONS
