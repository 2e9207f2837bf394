"""ONNX Reciprocal (since 1, 6, 13): element-wise 1 / x."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Reciprocal"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise 1 / x."""
    return np.asarray(np.reciprocal(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = VERSIONS
