"""ONNX TreeEnsemble (ai.onnx.ml, since 5): decision trees, their leaves aggregated."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "TreeEnsemble"
DOMAIN = "ai.onnx.ml"

_AVERAGE, _SUM, _MIN, _MAX = range(4)
_MEMBER = 6
_COMPARISONS: tuple[Callable[..., np.ndarray], ...] = (
    np.less_equal,
    np.less,
    np.greater_equal,
    np.greater,
    np.equal,
    np.not_equal,
)


def _ensemble(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    aggregate_function: int = 1,
    leaf_targetids: Sequence[int],
    leaf_weights: np.ndarray,
    membership_values: np.ndarray | None = None,
    n_targets: int = 1,
    nodes_falseleafs: Sequence[int],
    nodes_falsenodeids: Sequence[int],
    nodes_featureids: Sequence[int],
    nodes_hitrates: np.ndarray | None = None,
    nodes_missing_value_tracks_true: Sequence[int] | None = None,
    nodes_modes: np.ndarray,
    nodes_splits: np.ndarray,
    nodes_trueleafs: Sequence[int],
    nodes_truenodeids: Sequence[int],
    post_transform: int = 0,
    tree_roots: Sequence[int],
) -> np.ndarray:
    """x (N, features) to (N, n_targets).

    ``aggregate_function`` is 0 average, 1 sum, 2 min, 3 max; ``post_transform`` is
    0 none, 1 softmax, 2 logistic, 3 softmax_zero, 4 probit.
    """
    decisions = _decisions(
        x,
        np.asarray(nodes_featureids),
        nodes_modes,
        nodes_splits,
        nodes_missing_value_tracks_true,
        _member_sets(nodes_modes, membership_values),
    )
    children = np.stack((np.asarray(nodes_falsenodeids), np.asarray(nodes_truenodeids)))
    leaf_flags = np.stack((np.asarray(nodes_falseleafs), np.asarray(nodes_trueleafs)))
    rows = np.arange(x.shape[0])
    leaves = []
    for root in tree_roots:
        place = np.full(x.shape[0], root)
        done = np.zeros(x.shape[0], bool)
        for _ in range(children.shape[1] + 1):
            active = ~done
            if not active.any():
                break
            side = decisions[rows[active], place[active]].astype(np.int64)
            here = place[active]
            place[active] = children[side, here]
            done[active] = leaf_flags[side, here] != 0
        if not done.all():
            raise ValueError(f"TreeEnsemble: the tree at node {root} never reaches a leaf")
        leaves.append(place)
    targets = np.asarray(leaf_targetids)
    scores = _aggregated(
        np.stack(leaves), leaf_weights, targets, n_targets, aggregate_function, x.dtype
    )
    return _transformed(scores, post_transform, arithmetic).astype(x.dtype, copy=False)


def _member_sets(modes: np.ndarray, values: np.ndarray | None) -> list[np.ndarray]:
    count = int(np.count_nonzero(modes == _MEMBER))
    if not count:
        return []
    if values is None or np.count_nonzero(np.isnan(values)) != count:
        raise ValueError(
            f"TreeEnsemble: {count} membership nodes need as many NaN-ended membership_values"
        )
    return [part[~np.isnan(part)] for part in np.split(values, np.flatnonzero(np.isnan(values)))]


def _decisions(
    x: np.ndarray,
    features: np.ndarray,
    modes: np.ndarray,
    splits: np.ndarray,
    missing_true: Sequence[int] | None,
    members: list[np.ndarray],
) -> np.ndarray:
    """(N, nodes): which way every sample would go at every node."""
    value = x[:, features]
    result = np.zeros(value.shape, bool)
    for mode, compare in enumerate(_COMPARISONS):
        where = modes == mode
        result[:, where] = compare(value[:, where], splits[where])
    for node, group in zip(np.flatnonzero(modes == _MEMBER), members, strict=False):
        result[:, node] = np.isin(value[:, node], group)
    if missing_true is not None:
        result |= np.isnan(value) & (np.asarray(missing_true) != 0)
    return result


def _aggregated(
    leaves: np.ndarray,
    weights: np.ndarray,
    targets: np.ndarray,
    count: int,
    how: int,
    dtype: np.dtype,
) -> np.ndarray:
    samples = leaves.shape[1]
    rows = np.broadcast_to(np.arange(samples), leaves.shape)
    start = {_MIN: np.inf, _MAX: -np.inf}.get(how, 0.0)
    result = np.full((samples, count), start, dtype)
    combine = {_MIN: np.minimum, _MAX: np.maximum}.get(how, np.add)
    combine.at(result, (rows, targets[leaves]), weights[leaves].astype(dtype))
    if how == _AVERAGE:
        result /= leaves.shape[0]
    if how in (_MIN, _MAX):
        result = np.where(np.isinf(result), 0, result) + dtype.type(0)  # every zero is +0
    return result


def _transformed(scores: np.ndarray, how: int, arithmetic: Arithmetic) -> np.ndarray:
    if how == 0:
        return scores
    if how == 2:
        return 1 / (1 + arithmetic.exp(-scores))
    if how in (1, 3):
        result = arithmetic.exp(scores - scores.max(axis=1, keepdims=True))
        if how == 3:
            result = np.where(scores == 0, 0, result)
        return result / arithmetic.sums(result, 1)
    if how == 4:
        return np.sqrt(2) * inverse_erf(2 * scores - 1, arithmetic)
    raise ValueError(f"TreeEnsemble: post_transform={how}; write 0 to 4")


def inverse_erf(x: np.ndarray, arithmetic: Arithmetic = FAST) -> np.ndarray:
    """Winitzki's approximation, the one the ML operators are defined by in practice."""
    log = arithmetic.log((1 - x) * (1 + x))
    first = 2 / (np.pi * 0.147) + log / 2
    return np.copysign(np.sqrt(np.sqrt(first * first - log / 0.147) - first), x)


fast = partial(_ensemble, FAST)
exact = partial(_ensemble, EXACTLY)

VERSIONS = {5: fast}
EXACT = {5: exact}
