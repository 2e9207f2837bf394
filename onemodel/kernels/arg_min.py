"""ONNX ArgMin (since 1, 11, 12, 13): index of the smallest element along one axis."""

import numpy as np

NODE_TYPE = "ArgMin"


def fast(
    data: np.ndarray, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
) -> np.ndarray:
    """int64 index of the first (or last) smallest element along ``axis``."""
    if select_last_index:
        flipped = np.argmin(np.flip(data, axis), axis=axis, keepdims=bool(keepdims))
        return np.asarray(data.shape[axis] - 1 - flipped, dtype=np.int64)
    return np.asarray(data.argmin(axis, keepdims=bool(keepdims)), np.int64)


def arg_min_1(data: np.ndarray, *, axis: int = 0, keepdims: int = 1) -> np.ndarray:
    """Opset 1: always the first of several."""
    return fast(data, axis=axis, keepdims=keepdims)


VERSIONS = {1: arg_min_1, 12: fast}
EXACT = VERSIONS
