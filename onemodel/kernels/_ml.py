"""What the classical models of ai.onnx.ml share: scores to outputs, votes to labels, trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from onemodel.kernels._ml_arithmetic import FAST, Arithmetic
from onemodel.kernels.tree_ensemble import inverse_erf

TINY = 1e-7
"""Scores closer to zero than this count as nothing in SOFTMAX_ZERO."""


def transformed(scores: np.ndarray, how: str, arithmetic: Arithmetic = FAST) -> np.ndarray:
    """``scores`` (N, classes) after a ``post_transform``.

    Raises:
        ValueError: for a name that the standard does not have.
    """
    match how:
        case "NONE":
            return scores
        case "LOGISTIC":
            return arithmetic.sigmoid(scores)
        case "SOFTMAX" | "SOFTMAX_ZERO":
            powers = arithmetic.exp(scores - scores.max(axis=1, keepdims=True))
            if how == "SOFTMAX_ZERO":
                powers = np.where(np.abs(scores) > TINY, powers, 0)
            total = arithmetic.sums(powers, 1)
            return powers / np.where(total == 0, 1, total)
        case "PROBIT":
            return np.sqrt(scores.dtype.type(2)) * inverse_erf(2 * scores - 1, arithmetic)
    raise ValueError(
        f"post_transform={how!r}; write NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT"
    )


def two_sided(
    scores: np.ndarray, how: str, *, probabilities: bool, arithmetic: Arithmetic = FAST
) -> np.ndarray:
    """Scores (N, 1) of the second of two classes as scores (N, 2).

    ``probabilities`` says that a score is one, so that the first class has the rest;
    otherwise the first class has the negative, or the logistic function of it.
    """
    if how == "PROBIT":
        return transformed(np.concatenate([1 - scores, scores], axis=1), how, arithmetic)
    if how == "LOGISTIC":
        return arithmetic.sigmoid(np.concatenate([-scores, scores], axis=1))
    first = 1 - scores if probabilities else -scores
    return np.concatenate([first, scores], axis=1)


def named(
    indices: np.ndarray, ints: Sequence[int] | None, strings: Sequence[str] | None
) -> np.ndarray:
    """Class labels by index: strings where they are given, else integers.

    Raises:
        ValueError: where neither is given.
    """
    if strings:
        names = np.empty(len(strings), object)
        names[:] = list(strings)
        return names[indices]
    if not ints:
        raise ValueError("a classifier needs class labels, integers or strings")
    return np.asarray(ints, np.int64)[indices]


# -- trees -----------------------------------------------------------------------------------

_BRANCHES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "BRANCH_LEQ": np.less_equal,
    "BRANCH_LT": np.less,
    "BRANCH_GTE": np.greater_equal,
    "BRANCH_GT": np.greater,
    "BRANCH_EQ": np.equal,
    "BRANCH_NEQ": np.not_equal,
}


def leaves(
    x: np.ndarray,
    *,
    treeids: Sequence[int],
    nodeids: Sequence[int],
    featureids: Sequence[int],
    values: np.ndarray,
    modes: Sequence[str],
    trueids: Sequence[int],
    falseids: Sequence[int],
    missing_true: Sequence[int] | None,
) -> tuple[np.ndarray, dict[tuple[int, int], int]]:
    """Where each row of ``x`` ends: (trees, N) indices of nodes, and the index by (tree, node).

    Raises:
        ValueError: for a node that does not exist, an unknown mode, or a tree without an end.
    """
    index = {pair: i for i, pair in enumerate(zip(treeids, nodeids, strict=True))}
    leaf = np.array([mode == "LEAF" for mode in modes])
    unknown = set(modes) - _BRANCHES.keys() - {"LEAF"}
    if unknown:
        raise ValueError(f"nodes_modes holds {sorted(unknown)[0]!r}")
    children = np.zeros((2, len(leaf)), np.int64)
    for i, tree in enumerate(treeids):
        if leaf[i]:
            continue
        try:
            children[:, i] = index[tree, falseids[i]], index[tree, trueids[i]]
        except KeyError:
            raise ValueError(
                f"node {nodeids[i]} of tree {tree} has a child that is not there"
            ) from None
    features = np.asarray(featureids)
    chooses = {mode: np.array([m == mode for m in modes]) for mode in set(modes) - {"LEAF"}}
    missing = np.asarray(missing_true or [0] * len(leaf)) != 0
    places = []
    for root in dict(zip(reversed(treeids), reversed(range(len(leaf))), strict=True)).values():
        places.append(_descend(x, root, leaf, children, features, values, chooses, missing))
    order = np.argsort([place[1] for place in places])
    return np.stack([places[i][0] for i in order]), index


def _descend(
    x: np.ndarray,
    root: int,
    leaf: np.ndarray,
    children: np.ndarray,
    features: np.ndarray,
    values: np.ndarray,
    chooses: dict[str, np.ndarray],
    missing: np.ndarray,
) -> tuple[np.ndarray, int]:
    place = np.full(len(x), root)
    rows = np.arange(len(x))
    for _ in range(len(leaf) + 1):
        rows = rows[~leaf[place[rows]]]
        if not len(rows):
            return place, root
        here = place[rows]
        value, split = x[rows, features[here]], values[here]
        side = np.zeros(len(rows), bool)
        for mode, chosen in chooses.items():
            which = chosen[here]
            side[which] = _BRANCHES[mode](value[which], split[which])
        side |= np.isnan(value) & missing[here]
        place[rows] = children[side.astype(np.int64), here]
    raise ValueError(f"the tree at node {root} never reaches a leaf")


def votes(
    ends: np.ndarray,
    index: dict[tuple[int, int], int],
    *,
    treeids: Sequence[int],
    nodeids: Sequence[int],
    targets: Sequence[int],
    weights: np.ndarray,
    count: int,
    how: str,
    arithmetic: Arithmetic = FAST,
) -> np.ndarray:
    """Weights of the leaves in ``ends`` gathered per target: (N, count).

    ``how`` is SUM, AVERAGE, MIN or MAX; a leaf may have weights for several targets.
    """
    dtype = weights.dtype
    start = {"MIN": np.inf, "MAX": -np.inf}.get(how, 0.0)
    table = np.full((max(index.values()) + 1, count), start, dtype)
    combine = {"MIN": np.minimum, "MAX": np.maximum}.get(how, np.add)
    rows = [index[pair] for pair in zip(treeids, nodeids, strict=True)]
    combine.at(table, (rows, list(targets)), weights)
    if start:
        found = combine.reduce(table[ends], axis=0)
        return np.where(np.isinf(found), 0, found).astype(dtype) + dtype.type(0)  # every zero +0
    found = arithmetic.sums(table[ends], 0)[0]
    if how == "AVERAGE":
        found = found / dtype.type(len(ends))
    return found


def as_array(tensor: np.ndarray | None, floats: Sequence[float] | None) -> np.ndarray:
    """The values of an attribute that is a tensor or a list of float32."""
    return tensor if tensor is not None else np.asarray(floats or [], np.float32)


# -- support vectors -------------------------------------------------------------------------


def kernel_values(
    x: np.ndarray,
    vectors: np.ndarray,
    kind: str,
    params: Sequence[float] | None,
    arithmetic: Arithmetic = FAST,
) -> np.ndarray:
    """The SVM kernel of each row of ``x`` with each support vector: (N, vectors).

    ``params`` are gamma, coef0 and degree.
    """
    gamma, offset, degree = params or (0.0, 0.0, 3.0)
    match kind:
        case "LINEAR":
            return arithmetic.matmul(x, vectors.T)
        case "POLY":
            return arithmetic.pow(gamma * arithmetic.matmul(x, vectors.T) + offset, degree)
        case "SIGMOID":
            return arithmetic.tanh(gamma * arithmetic.matmul(x, vectors.T) + offset)
        case "RBF":
            squares = np.square(x[:, None, :] - vectors[None, :, :])
            return arithmetic.exp(-gamma * arithmetic.sums(squares, 2)[:, :, 0])
    raise ValueError(f"kernel_type={kind!r}; write LINEAR, POLY, RBF or SIGMOID")
