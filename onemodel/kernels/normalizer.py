"""ONNX Normalizer (ai.onnx.ml, since 1): rows divided by their norm."""

from functools import partial

import numpy as np

from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "Normalizer"
DOMAIN = "ai.onnx.ml"


def _normalizer(arithmetic: Arithmetic, x: np.ndarray, *, norm: str = "MAX") -> np.ndarray:
    """Each row of float32 ``x`` divided by its greatest element, L1 or L2 norm; zeros stay.

    Raises:
        ValueError: for another norm.
    """
    x = x.astype(np.float32, copy=False)
    match norm:
        case "MAX":
            size = x.max(axis=-1, keepdims=True, initial=-np.inf)
        case "L1":
            size = arithmetic.sums(np.abs(x), -1)
        case "L2":
            size = np.sqrt(arithmetic.sums(x * x, -1))
        case _:
            raise ValueError(f"norm={norm!r}; write MAX, L1 or L2")
    return x / np.where(size == 0, np.float32(1), size)


fast = partial(_normalizer, FAST)
exact = partial(_normalizer, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
