"""ONNX Mean (since 1, 6, 8, 12, 13): element-wise mean of any number of arrays."""

import functools

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Mean"


def fast(*inputs: np.ndarray) -> np.ndarray:
    """Element-wise mean with broadcasting."""
    total = functools.reduce(np.add, (widen(array) for array in inputs))
    return np.asarray(total / len(inputs)).astype(inputs[0].dtype, copy=False)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}

# One addition after the other, then one division.
EXACT = VERSIONS
