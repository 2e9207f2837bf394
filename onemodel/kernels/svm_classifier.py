"""ONNX SVMClassifier (ai.onnx.ml, since 1): support vectors, one class against one."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from onemodel.kernels._ml import kernel_values, named, transformed, two_sided

NODE_TYPE = "SVMClassifier"
DOMAIN = "ai.onnx.ml"


def fast(
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
    products = kernel_values(rows, vectors, kernel_type, kernel_params)
    weights = np.asarray(coefficients, np.float32).reshape(count - 1, len(vectors))
    pairs = _pair_scores(products, weights, vectors_per_class, rho)
    votes = np.zeros((len(rows), count), np.int64)
    for column, (one, other) in enumerate(combinations(range(count), 2)):
        wins = pairs[:, column] > 0
        votes[:, one] += wins
        votes[:, other] += ~wins
    # The label is that of the votes, even where probabilities say otherwise.
    best = votes.argmax(axis=1)
    if prob_a:
        found = _probabilities(pairs, np.asarray(prob_a), np.asarray(prob_b or []), count)
        scores = transformed(found.astype(np.float32), post_transform)
    elif count == 2 and len(labels) == 2:
        scores = two_sided(pairs, post_transform, probabilities=False)
    else:
        scores = transformed(pairs, post_transform)
    return named(best, classlabels_ints, classlabels_strings), scores


def _linear(
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
    scores = kernel_values(rows, weights, kind, params) + np.float32(rho[0])
    best = scores.argmax(axis=1)
    return named(best, ints, strings), transformed(scores.astype(np.float32), post_transform)


def _pair_scores(
    products: np.ndarray, weights: np.ndarray, sizes: Sequence[int], rho: Sequence[float]
) -> np.ndarray:
    """(N, pairs): positive where the first class of the pair wins."""
    ends = np.cumsum(sizes)
    parts = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    columns = []
    for place, (one, other) in enumerate(combinations(range(len(sizes)), 2)):
        # Class k's vectors keep their weight against class j in row j, or j - 1 for j > k.
        score = products[:, parts[one]] @ weights[other - 1, parts[one]]
        score = score + products[:, parts[other]] @ weights[one, parts[other]]
        columns.append(score + np.float32(rho[place]))
    return np.stack(columns, axis=1).astype(np.float32)


def _probabilities(pairs: np.ndarray, a: np.ndarray, b: np.ndarray, count: int) -> np.ndarray:
    """Class probabilities from Platt's pairwise ones (Wu, Lin and Weng, second method)."""
    pairwise = np.zeros((len(pairs), count, count))
    for place, (one, other) in enumerate(combinations(range(count), 2)):
        # libsvm writes its sign the other way round.
        value = 1 / (1 + np.exp(pairs[:, place].astype(np.float64) * a[place] + b[place]))
        value = np.clip(value, 1e-7, 1 - 1e-7)
        pairwise[:, one, other], pairwise[:, other, one] = value, 1 - value
    return np.stack([_coupled(matrix) for matrix in pairwise])


def _coupled(pairwise: np.ndarray) -> np.ndarray:
    count = len(pairwise)
    system = -pairwise.T * pairwise
    np.fill_diagonal(system, (pairwise.T**2).sum(axis=1))
    found = np.full(count, 1 / count)
    for _ in range(100):
        step = system @ found
        total = found @ step
        if np.abs(step - total).max() < 0.005 / count:
            break
        for t in range(count):
            move = (total - step[t]) / system[t, t]
            found[t] += move
            total = (total + move * (move * system[t, t] + 2 * step[t])) / (1 + move) ** 2
            step = (step + move * system[t]) / (1 + move)
            found /= 1 + move
    return found


VERSIONS = {1: fast}
