"""ONNX Floor (since 1, 6, 13): element-wise largest integer not above x."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Floor"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise largest integer not above x."""
    return np.asarray(np.floor(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = VERSIONS
