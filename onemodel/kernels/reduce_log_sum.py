"""ONNX ReduceLogSum (since 1, 11, 13, 18, 28): logarithm of the sum over axes."""

import numpy as np

from onemodel.kernels._reduce import axes_as_attribute, axes_as_input
from onemodel.kernels.exact.functions import log64
from onemodel.kernels.exact.sum import total

NODE_TYPE = "ReduceLogSum"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Logarithm of the sum over ``axes`` (None: all)."""
    return np.log(np.sum(data, axis=axes, dtype=data.dtype, keepdims=keepdims))


fast = axes_as_input(core, np.log)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, in float64 and rounded once."""
    return log64(total(data, axes, keepdims).astype(np.float64))


def _log(data: np.ndarray) -> np.ndarray:
    return log64(data.astype(np.float64))


exact = axes_as_input(exact_core, _log)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
