"""ONNX ReduceL1 (since 1, 11, 13, 18): sum of absolute values over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input
from onemodel.kernels.exact.sum import total

NODE_TYPE = "ReduceL1"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Sum of absolute values over ``axes`` (None: all)."""
    return np.sum(np.abs(data), axis=axes, dtype=data.dtype, keepdims=keepdims)


fast = axes_as_input(core, np.abs)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, added in a fixed tree and rounded once."""
    return total(np.abs(data), axes, keepdims)


exact = axes_as_input(exact_core, np.abs)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
