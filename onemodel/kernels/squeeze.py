"""ONNX Squeeze (since 1, 11, 13, 21, 23, 24, 25): without axes of size one."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Squeeze"


def fast(data: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    """A view without ``axes``, or without every axis of size one."""
    return np.squeeze(data, axis=None if axes is None else tuple(integers(axes)))


def squeeze_1(data: np.ndarray, *, axes: Sequence[int] | None = None) -> np.ndarray:
    """Opsets 1 and 11: axes are an attribute."""
    return np.squeeze(data, axis=None if axes is None else tuple(axes))


VERSIONS = {1: squeeze_1, 13: fast}
EXACT = VERSIONS
