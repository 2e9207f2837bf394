"""ONNX NegativeLogLikelihoodLoss (since 12, 13, 22): loss of class log-probabilities."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._losses import negative_log_likelihood
from onemodel.kernels.exact.sum import total

NODE_TYPE = "NegativeLogLikelihoodLoss"


def _loss(
    add: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> np.ndarray:
    """x (N, C, d1..dk) and classes (N, d1..dk); ``reduction`` is none, mean or sum."""
    loss = negative_log_likelihood(widen(x), target, weight, ignore_index, reduction, add)
    return loss.astype(x.dtype, copy=False)


fast = partial(_loss, np.sum)
exact = partial(_loss, total)

VERSIONS = {12: fast}
EXACT = {12: exact}
