"""ONNX Sum (since 1, 6, 8, 12, 13): element-wise sum of any number of arrays."""

import functools

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs

NODE_TYPE = "Sum"


def fast(*inputs: np.ndarray) -> np.ndarray:
    """Element-wise sum with broadcasting."""
    return np.asarray(functools.reduce(np.add, inputs))


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}

# One addition after the other.
EXACT = VERSIONS
