"""ONNX Max (since 1, 6, 8, 12, 13): element-wise maximum of any number of arrays."""

import functools

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels.exact.nan import with_positive_zero

NODE_TYPE = "Max"


def fast(*inputs: np.ndarray) -> np.ndarray:
    """Element-wise maximum with broadcasting."""
    return np.asarray(functools.reduce(np.maximum, inputs))


exact = with_positive_zero(fast)

VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
