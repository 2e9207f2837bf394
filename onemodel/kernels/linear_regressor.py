"""ONNX LinearRegressor (ai.onnx.ml, since 1)."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._ml import transformed

NODE_TYPE = "LinearRegressor"
DOMAIN = "ai.onnx.ml"


def fast(
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
    scores = rows @ weights.T
    if intercepts:
        scores += np.asarray(intercepts, np.float32)
    return transformed(scores, post_transform)


VERSIONS = {1: fast}
