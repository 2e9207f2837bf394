"""ONNX LinearRegressor (ai.onnx.ml, since 1)."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from onemodel.kernels._ml import transformed
from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "LinearRegressor"
DOMAIN = "ai.onnx.ml"


def _regressor(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    coefficients: Sequence[float] | None = None,
    intercepts: Sequence[float] | None = None,
    post_transform: str = "NONE",
    targets: int = 1,
) -> np.ndarray:
    """float32 (N, targets): x times the coefficients plus the intercepts."""
    rows = np.atleast_2d(x).astype(np.float32, copy=False)
    weights = np.asarray(coefficients or [], np.float32).reshape(targets, -1)
    scores = arithmetic.matmul(rows, weights.T)
    if intercepts:
        scores += np.asarray(intercepts, np.float32)
    return transformed(scores, post_transform, arithmetic)


fast = partial(_regressor, FAST)
exact = partial(_regressor, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
