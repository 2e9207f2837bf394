"""ONNX ReduceLogSum (since 1, 11, 13, 18, 28): logarithm of the sum over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input

NODE_TYPE = "ReduceLogSum"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Logarithm of the sum over ``axes`` (None: all)."""
    return np.log(np.sum(data, axis=axes, dtype=data.dtype, keepdims=keepdims))


fast = axes_as_input(core, np.log)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
