"""ONNX Einsum (since 12, 28): Einstein summation."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels.exact.einsum import einsum

NODE_TYPE = "Einsum"


def fast(*inputs: np.ndarray, equation: str) -> np.ndarray:
    """``equation`` over ``inputs``; contractions go through matrix products where they can."""
    wide = [widen(array) for array in inputs]
    result = np.einsum(equation.replace(" ", ""), *wide, optimize=len(inputs) > 1)
    return np.asarray(result).astype(inputs[0].dtype, copy=False)


def exact(*inputs: np.ndarray, equation: str) -> np.ndarray:
    """As :func:`fast`, contracted pair by pair from the left, each contraction rounded once.

    Between contractions float16 and bfloat16 are kept in float32.
    """
    dtype = inputs[0].dtype
    arrays = [widen(array) for array in inputs] if len(inputs) > 2 else list(inputs)
    return einsum(equation.replace(" ", ""), arrays).astype(dtype, copy=False)


VERSIONS = {12: fast}
EXACT = {12: exact}
