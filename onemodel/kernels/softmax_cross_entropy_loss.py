"""ONNX SoftmaxCrossEntropyLoss (since 12, 13): loss of class scores."""

import numpy as np

from onemodel.kernels import log_softmax
from onemodel.kernels._dtypes import widen
from onemodel.kernels._losses import negative_log_likelihood
from onemodel.kernels.exact.sum import total

NODE_TYPE = "SoftmaxCrossEntropyLoss"


def fast(
    scores: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> tuple[np.ndarray, np.ndarray]:
    """(loss, log_prob) of scores (N, C, d1..dk) and classes (N, d1..dk)."""
    log_probability = log_softmax.fast(widen(scores), axis=1)
    loss = negative_log_likelihood(log_probability, labels, weights, ignore_index, reduction)
    dtype = scores.dtype
    return loss.astype(dtype, copy=False), log_probability.astype(dtype, copy=False)


def exact(
    scores: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> tuple[np.ndarray, np.ndarray]:
    """As :func:`fast`, each probability rounded once, losses added in a fixed tree."""
    log_probability = log_softmax.exact(widen(scores), axis=1)
    loss = negative_log_likelihood(log_probability, labels, weights, ignore_index, reduction, total)
    dtype = scores.dtype
    return loss.astype(dtype, copy=False), log_probability.astype(dtype, copy=False)


VERSIONS = {12: fast}
EXACT = {12: exact}
