"""ONNX ReduceSumSquare (since 1, 11, 13, 18): sum of squares over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input

NODE_TYPE = "ReduceSumSquare"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Sum of squares over ``axes`` (None: all)."""
    return np.sum(np.square(data), axis=axes, dtype=data.dtype, keepdims=keepdims)


fast = axes_as_input(core, np.square)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
