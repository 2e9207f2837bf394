"""ONNX Abs (since 1, 6, 13): element-wise absolute value."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Abs"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise absolute value."""
    return np.asarray(np.absolute(x))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = VERSIONS
