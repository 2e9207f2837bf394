"""ONNX Max (since 1, 6, 8, 12, 13): element-wise maximum of any number of arrays."""

import functools

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Max"


def fast(*inputs: np.ndarray) -> np.ndarray:
    """Element-wise maximum with broadcasting."""
    return np.asarray(functools.reduce(np.maximum, inputs))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
