"""ONNX InstanceNormalization (since 1, 6, 22): per image and channel over spatial axes."""

import numpy as np

from onemodel.kernels._legacy import with_consumed_inputs
from onemodel.kernels._normalize import exact_groups, normalized_groups

NODE_TYPE = "InstanceNormalization"


def fast(x: np.ndarray, scale: np.ndarray, b: np.ndarray, *, epsilon: float = 1e-5) -> np.ndarray:
    """(N, C, D1..Dn) with zero mean and unit variance per (n, c), times scale plus b per C."""
    return normalized_groups(x, x.shape[1], scale, b, epsilon)


def exact(x: np.ndarray, scale: np.ndarray, b: np.ndarray, *, epsilon: float = 1e-5) -> np.ndarray:
    """As :func:`fast`, in float64 and rounded once."""
    return exact_groups(x, x.shape[1], scale, b, epsilon)


VERSIONS = {1: with_consumed_inputs(fast), 6: fast}
EXACT = {1: with_consumed_inputs(exact), 6: exact}
