"""ONNX ReduceMax (since 1, 11, 12, 13, 18, 20): maximum over axes."""

import numpy as np

from onemodel.kernels._dtypes import lowest
from onemodel.kernels._reduce import axes_as_attribute, axes_as_input, identity

NODE_TYPE = "ReduceMax"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Maximum over ``axes`` (None: all)."""
    return np.max(data, axis=axes, keepdims=keepdims, initial=lowest(data.dtype))


fast = axes_as_input(core, identity)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`; a zero is +0, whichever the processor would take."""
    return core(data, axes, keepdims) + data.dtype.type(0)


exact = axes_as_input(exact_core, identity)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
