"""ONNX Ceil (since 1, 6, 13): element-wise smallest integer not below x."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Ceil"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise smallest integer not below x."""
    return np.asarray(np.ceil(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = VERSIONS
