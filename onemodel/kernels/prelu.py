"""ONNX PRelu (since 1, 6, 7, 9, 16): element-wise x above zero, slope x below."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._select import select

NODE_TYPE = "PRelu"


def fast(x: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Element-wise x above zero, slope x below."""
    return select(x < 0, np.asarray(x * slope), x)


def prelu_1(
    x: np.ndarray, slope: np.ndarray, *, consumed_inputs: Sequence[int] | None = None
) -> np.ndarray:
    """Opsets 1 and 6: one slope, or one per channel (axis 1)."""
    if slope.ndim == 1 and slope.size > 1:
        slope = slope.reshape((-1,) + (1,) * (x.ndim - 2))
    return fast(x, slope)


VERSIONS = {1: prelu_1, 7: fast}
EXACT = VERSIONS
