"""ONNX ReduceMean (since 1, 11, 13, 18): arithmetic mean over axes."""

import numpy as np

from onemodel.kernels import div
from onemodel.kernels._reduce import axes_as_attribute, axes_as_input, identity
from onemodel.kernels.exact.sum import mean

NODE_TYPE = "ReduceMean"


def core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """Arithmetic mean over ``axes`` (None: all)."""
    if data.dtype.kind in "iu":  # the sum in the tensor's own type, divided like C++
        total = np.sum(data, axis=axes, dtype=data.dtype, keepdims=keepdims)
        count = np.asarray(data.size // max(total.size, 1), dtype=data.dtype)
        return div.fast(np.asarray(total), count)
    if not data.size:  # 0 / 0, where np.mean would warn
        return np.sum(data, axis=axes, keepdims=keepdims) / data.dtype.type(0)
    return np.asarray(np.mean(data, axis=axes, keepdims=keepdims))


fast = axes_as_input(core, identity)


def exact_core(data: np.ndarray, axes: tuple[int, ...] | None, keepdims: bool) -> np.ndarray:
    """As :func:`core`, added in a fixed tree and rounded once."""
    return core(data, axes, keepdims) if data.dtype.kind in "iu" else mean(data, axes, keepdims)


exact = axes_as_input(exact_core, identity)

VERSIONS = {1: axes_as_attribute(core), 18: fast}
EXACT = {1: axes_as_attribute(exact_core), 18: exact}
