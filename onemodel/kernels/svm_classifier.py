"""ONNX SVMClassifier (ai.onnx.ml, since 1): support vectors, one class against one."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations

import numpy as np

from onemodel.kernels._ml import kernel_values, named, transformed, two_sided
from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "SVMClassifier"
DOMAIN = "ai.onnx.ml"


def _classifier(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    classlabels_ints: Sequence[int] | None = None,
    classlabels_strings: Sequence[str] | None = None,
    coefficients: Sequence[float],
    kernel_params: Sequence[float] | None = None,
    kernel_type: str = "LINEAR",
    post_transform: str = "NONE",
    prob_a: Sequence[float] | None = None,
    prob_b: Sequence[float] | None = None,
    rho: Sequence[float],
    support_vectors: Sequence[float] | None = None,
    vectors_per_class: Sequence[int] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Labels (N,) and float32 scores: probabilities with ``prob_a``, else one per pair."""
    rows = np.atleast_2d(x).astype(np.float32, copy=False)
    labels = classlabels_strings or classlabels_ints or ()
    if not vectors_per_class:
        return _linear(
            arithmetic,
            rows,
            coefficients,
            rho,
            kernel_type,
            kernel_params,
            post_transform,
            classlabels_ints,
            classlabels_strings,
        )
    count = len(vectors_per_class)
    vectors = np.asarray(support_vectors or [], np.float32).reshape(sum(vectors_per_class), -1)
    products = kernel_values(rows, vectors, kernel_type, kernel_params, arithmetic)
    weights = np.asarray(coefficients, np.float32).reshape(count - 1, len(vectors))
    pairs = _pair_scores(arithmetic, products, weights, vectors_per_class, rho)
    votes = np.zeros((len(rows), count), np.int64)
    for column, (one, other) in enumerate(combinations(range(count), 2)):
        wins = pairs[:, column] > 0
        votes[:, one] += wins
        votes[:, other] += ~wins
    # The label is that of the votes, even where probabilities say otherwise.
    best = votes.argmax(axis=1)
    if prob_a:
        a, b = np.asarray(prob_a), np.asarray(prob_b or [])
        found = _probabilities(arithmetic, pairs, a, b, count).astype(np.float32)
        scores = transformed(found, post_transform, arithmetic)
    elif count == 2 and len(labels) == 2:
        scores = two_sided(pairs, post_transform, probabilities=False, arithmetic=arithmetic)
    else:
        scores = transformed(pairs, post_transform, arithmetic)
    return named(best, classlabels_ints, classlabels_strings), scores


def _linear(
    arithmetic: Arithmetic,
    rows: np.ndarray,
    coefficients: Sequence[float],
    rho: Sequence[float],
    kind: str,
    params: Sequence[float] | None,
    post_transform: str,
    ints: Sequence[int] | None,
    strings: Sequence[str] | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Without support vectors the coefficients are one vector per class."""
    count = len(strings or ints or ())
    weights = np.asarray(coefficients, np.float32).reshape(count, -1)
    scores = kernel_values(rows, weights, kind, params, arithmetic) + np.float32(rho[0])
    scores = scores.astype(np.float32, copy=False)
    best = scores.argmax(axis=1)
    return named(best, ints, strings), transformed(scores, post_transform, arithmetic)


def _pair_scores(
    arithmetic: Arithmetic,
    products: np.ndarray,
    weights: np.ndarray,
    sizes: Sequence[int],
    rho: Sequence[float],
) -> np.ndarray:
    """(N, pairs): positive where the first class of the pair wins."""
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    columns = []
    for place, (one, other) in enumerate(combinations(range(len(sizes)), 2)):
        # Class k's vectors keep their weight against class j in row j, or j - 1 for j > k.
        score = arithmetic.matmul(products[:, parts[one]], weights[other - 1, parts[one]])
        score = score + arithmetic.matmul(products[:, parts[other]], weights[one, parts[other]])
        columns.append(score + np.float32(rho[place]))
    return np.stack(columns, axis=1).astype(np.float32)


def _probabilities(
    arithmetic: Arithmetic, pairs: np.ndarray, a: np.ndarray, b: np.ndarray, count: int
) -> np.ndarray:
    """Class probabilities from Platt's pairwise ones (Wu, Lin and Weng, second method)."""
    pairwise = np.zeros((len(pairs), count, count))
    for place, (one, other) in enumerate(combinations(range(count), 2)):
        # libsvm writes its sign the other way round.
        power = pairs[:, place].astype(np.float64) * a[place] + b[place]
        value = 1 / (1 + arithmetic.exp(power))
        value = np.clip(value, 1e-7, 1 - 1e-7)
        pairwise[:, one, other], pairwise[:, other, one] = value, 1 - value
    return np.stack([_coupled(arithmetic, matrix) for matrix in pairwise])


def _coupled(arithmetic: Arithmetic, pairwise: np.ndarray) -> np.ndarray:
    count = len(pairwise)
    system = -pairwise.T * pairwise
    np.fill_diagonal(system, arithmetic.sums(np.square(pairwise.T), 1)[:, 0])
    found = np.full(count, 1 / count)
    for _ in range(100):
        step = arithmetic.matmul(system, found)
        total = arithmetic.matmul(found, step)
        if np.abs(step - total).max() < 0.005 / count:
            break
        for t in range(count):
            move = (total - step[t]) / system[t, t]
            found[t] += move
            scale = 1 + move  # its square as a product: a power of one number is not rounded alike
            total = (total + move * (move * system[t, t] + 2 * step[t])) / (scale * scale)
            step = (step + move * system[t]) / scale
            found /= scale
    return found


fast = partial(_classifier, FAST)
exact = partial(_classifier, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
