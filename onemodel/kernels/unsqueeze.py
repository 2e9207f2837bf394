"""ONNX Unsqueeze (since 1, 11, 13, 21, 23, 24, 25): with new axes of size one."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Unsqueeze"


def fast(data: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """A view in which ``axes`` of the result have size one."""
    return np.expand_dims(data, tuple(integers(axes)))


def unsqueeze_1(data: np.ndarray, *, axes: Sequence[int]) -> np.ndarray:
    """Opsets 1 and 11: axes are an attribute."""
    return np.expand_dims(data, tuple(axes))


VERSIONS = {1: unsqueeze_1, 13: fast}
EXACT = VERSIONS
