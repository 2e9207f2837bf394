"""ONNX LinearClassifier (ai.onnx.ml, since 1): logistic regression and its kin."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from onemodel.kernels._ml import named, transformed, two_sided
from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "LinearClassifier"
DOMAIN = "ai.onnx.ml"


def _classifier(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    classlabels_ints: Sequence[int] | None = None,
    classlabels_strings: Sequence[str] | None = None,
    coefficients: Sequence[float],
    intercepts: Sequence[float] | None = None,
    multi_class: int = 0,
    post_transform: str = "NONE",
) -> tuple[np.ndarray, np.ndarray]:
    """Labels (N,) and float32 scores (N, classes).

    One row of coefficients for two labels scores the second of them. ``multi_class`` says
    how the model was trained and changes nothing.
    """
    rows = np.atleast_2d(x).astype(np.float32, copy=False)
    weights = np.asarray(coefficients, np.float32).reshape(-1, rows.shape[1])
    scores = arithmetic.matmul(rows, weights.T)
    if intercepts:
        scores += np.asarray(intercepts, np.float32)
    labels = classlabels_strings or classlabels_ints or ()
    if len(weights) == 1 and len(labels) == 2:
        best = (scores[:, 0] > 0).astype(np.int64)
        scores = two_sided(scores, post_transform, probabilities=True, arithmetic=arithmetic)
    else:
        best = scores.argmax(axis=1)
        scores = transformed(scores, post_transform, arithmetic)
    return named(best, classlabels_ints, classlabels_strings), scores


fast = partial(_classifier, FAST)
exact = partial(_classifier, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
