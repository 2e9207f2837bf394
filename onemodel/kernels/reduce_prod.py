"""ONNX ReduceProd (since 1, 11, 13, 18): product over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input, identity
from onemodel.kernels.exact.sum import multiplied

NODE_TYPE = "ReduceProd"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Product over ``axes`` (None: all)."""
    return np.prod(data, axis=axes, dtype=data.dtype, keepdims=keepdims)


fast = axes_as_input(core, identity)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, multiplied in a fixed tree and rounded once."""
    return multiplied(data, axes, keepdims)


exact = axes_as_input(exact_core, identity)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
