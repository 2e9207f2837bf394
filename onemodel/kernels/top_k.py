"""ONNX TopK (since 1, 10, 11, 24): the k largest or smallest elements along an axis."""

import numpy as np

from onemodel.kernels._dtypes import widen

NODE_TYPE = "TopK"


def fast(
    x: np.ndarray, k: np.ndarray, *, axis: int = -1, largest: int = 1, sorted: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Values and int64 indices, sorted; of equal elements the lower index comes first."""
    count = int(k.item())
    if not 0 <= count <= x.shape[axis]:
        raise ValueError(f"TopK: k={count} does not fit axis {axis} of size {x.shape[axis]}")
    order = _stable_order(widen(x), axis, bool(largest))
    index = np.take(order, np.arange(count), axis=axis)
    return np.take_along_axis(x, index, axis=axis), index.astype(np.int64, copy=False)


def _stable_order(x: np.ndarray, axis: int, largest: bool) -> np.ndarray:
    if not largest:
        return np.argsort(x, axis=axis, kind="stable")
    # Descending and stable: sort the reversed axis upwards, then read it backwards.
    backwards = np.flip(np.argsort(np.flip(x, axis), axis=axis, kind="stable"), axis)
    return x.shape[axis] - 1 - backwards


def top_k_10(x: np.ndarray, k: np.ndarray, *, axis: int = -1) -> tuple[np.ndarray, np.ndarray]:
    """Opset 10: always the largest, sorted."""
    return fast(x, k, axis=axis)


def top_k_1(x: np.ndarray, *, axis: int = -1, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Opset 1: k is an attribute."""
    return fast(x, np.asarray(k), axis=axis)


VERSIONS = {1: top_k_1, 10: top_k_10, 11: fast}
