"""ONNX ReduceSum (since 1, 11, 13): sum over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input, identity
from onemodel.kernels.exact.sum import total

NODE_TYPE = "ReduceSum"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Sum over ``axes`` (None: all)."""
    return np.add.reduce(data, axis=axes, dtype=data.dtype, keepdims=keepdims)


fast = axes_as_input(core, identity)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, added in a fixed tree and rounded once."""
    return total(data, axes, keepdims)


exact = axes_as_input(exact_core, identity)

VERSIONS = {1: axes_as_attribute(core), 13: fast}
EXACT = {1: axes_as_attribute(exact_core), 13: exact}
