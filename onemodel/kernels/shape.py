"""ONNX Shape (since 1, 13, 15, 19, 21, 23, 24, 25): sizes as int64."""

import numpy as np

NODE_TYPE = "Shape"


def fast(data: np.ndarray, *, start: int = 0, end: int | None = None) -> np.ndarray:
    """The sizes of axes ``start`` to ``end`` (clamped; negative counts back)."""
    return np.array(data.shape[start:end], dtype=np.int64)


def shape_1(data: np.ndarray) -> np.ndarray:
    """Opsets 1 and 13: all sizes."""
    return np.array(data.shape, dtype=np.int64)


VERSIONS = {1: shape_1, 15: fast}
EXACT = VERSIONS
