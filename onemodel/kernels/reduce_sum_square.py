"""ONNX ReduceSumSquare (since 1, 11, 13, 18): sum of squares over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input
from onemodel.kernels.exact.sum import total, wide

NODE_TYPE = "ReduceSumSquare"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Sum of squares over ``axes`` (None: all)."""
    return np.sum(np.square(data), axis=axes, dtype=data.dtype, keepdims=keepdims)


fast = axes_as_input(core, np.square)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, added in a fixed tree and rounded once."""
    return total(np.square(wide(data)), axes, keepdims)


exact = axes_as_input(exact_core, np.square)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
