"""ONNX Log (since 1, 6, 13): element-wise natural logarithm."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Log"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise natural logarithm."""
    return np.asarray(np.log(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
