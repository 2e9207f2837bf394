"""ONNX Neg (since 1, 6, 13): element-wise negation."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Neg"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise negation."""
    return np.asarray(np.negative(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = VERSIONS
