"""ONNX SVMRegressor (ai.onnx.ml, since 1): support vector regression, or one class."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from onemodel.kernels._ml import kernel_values, transformed
from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "SVMRegressor"
DOMAIN = "ai.onnx.ml"


def _regressor(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    coefficients: Sequence[float],
    kernel_params: Sequence[float] | None = None,
    kernel_type: str = "LINEAR",
    n_supports: int = 0,
    one_class: int = 0,
    post_transform: str = "NONE",
    rho: Sequence[float],
    support_vectors: Sequence[float] | None = None,
) -> np.ndarray:
    """float32 (N, 1); with ``one_class`` 1 for what belongs and -1 for what does not."""
    rows = np.atleast_2d(x).astype(np.float32, copy=False)
    weights = np.asarray(coefficients, np.float32)
    if n_supports:
        vectors = np.asarray(support_vectors or [], np.float32).reshape(n_supports, -1)
        values = kernel_values(rows, vectors, kernel_type, kernel_params, arithmetic)
        scores = arithmetic.matmul(values, weights)
    else:
        weights = weights[None, :]
        scores = kernel_values(rows, weights, kernel_type, kernel_params, arithmetic)[:, 0]
    scores = (scores + np.float32(rho[0])).astype(np.float32)[:, None]
    if one_class:
        return np.where(scores > 0, np.float32(1), np.float32(-1))
    return transformed(scores, post_transform, arithmetic)


fast = partial(_regressor, FAST)
exact = partial(_regressor, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
