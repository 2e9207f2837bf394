"""ONNX SoftmaxCrossEntropyLoss (since 12, 13): loss of class scores."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels import log_softmax
from onemodel.kernels._dtypes import widen
from onemodel.kernels._losses import negative_log_likelihood
from onemodel.kernels.exact.sum import total

NODE_TYPE = "SoftmaxCrossEntropyLoss"


def _loss(
    normalize: Callable[..., np.ndarray],
    add: Callable[[np.ndarray], np.ndarray],
    scores: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> tuple[np.ndarray, np.ndarray]:
    """(loss, log_prob) of scores (N, C, d1..dk) and classes (N, d1..dk)."""
    log_probability = normalize(widen(scores), axis=1)
    loss = negative_log_likelihood(log_probability, labels, weights, ignore_index, reduction, add)
    dtype = scores.dtype
    return loss.astype(dtype, copy=False), log_probability.astype(dtype, copy=False)


fast = partial(_loss, log_softmax.fast, np.sum)
exact = partial(_loss, log_softmax.exact, total)

VERSIONS = {12: fast}
EXACT = {12: exact}
