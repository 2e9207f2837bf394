"""ONNX TreeEnsembleClassifier (ai.onnx.ml, since 1, 3, 5): forests and boosted trees."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from onemodel.kernels._ml import as_array, leaves, named, transformed, two_sided, votes
from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "TreeEnsembleClassifier"
DOMAIN = "ai.onnx.ml"


def _classifier(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    base_values: Sequence[float] | None = None,
    base_values_as_tensor: np.ndarray | None = None,
    class_ids: Sequence[int],
    class_nodeids: Sequence[int],
    class_treeids: Sequence[int],
    class_weights: Sequence[float] | None = None,
    class_weights_as_tensor: np.ndarray | None = None,
    classlabels_int64s: Sequence[int] | None = None,
    classlabels_strings: Sequence[str] | None = None,
    nodes_falsenodeids: Sequence[int],
    nodes_featureids: Sequence[int],
    nodes_hitrates: Sequence[float] | None = None,
    nodes_hitrates_as_tensor: np.ndarray | None = None,
    nodes_missing_value_tracks_true: Sequence[int] | None = None,
    nodes_modes: Sequence[str],
    nodes_nodeids: Sequence[int],
    nodes_treeids: Sequence[int],
    nodes_truenodeids: Sequence[int],
    nodes_values: Sequence[float] | None = None,
    nodes_values_as_tensor: np.ndarray | None = None,
    post_transform: str = "NONE",
) -> tuple[np.ndarray, np.ndarray]:
    """Labels (N,) and float32 scores (N, classes).

    Two classes of which the leaves score only one: its score decides, above 0.5 where no
    weight is negative (a probability), else above 0.
    """
    ends, index = leaves(
        x if x.dtype.kind == "f" else x.astype(np.float32),
        treeids=nodes_treeids,
        nodeids=nodes_nodeids,
        featureids=nodes_featureids,
        values=as_array(nodes_values_as_tensor, nodes_values),
        modes=nodes_modes,
        trueids=nodes_truenodeids,
        falseids=nodes_falsenodeids,
        missing_true=nodes_missing_value_tracks_true,
    )
    count = len(classlabels_strings or classlabels_int64s or ())
    weights = as_array(class_weights_as_tensor, class_weights)
    binary = count == 2 and len(set(class_ids)) == 1
    scores = votes(
        ends,
        index,
        treeids=class_treeids,
        nodeids=class_nodeids,
        targets=[0] * len(class_ids) if binary else class_ids,
        weights=weights,
        count=1 if binary else count,
        how="SUM",
        arithmetic=arithmetic,
    )
    base = as_array(base_values_as_tensor, base_values)
    if base.size:
        scores = scores + (base[-1:] if binary else base)
    best, scores = _decided(scores.astype(np.float32), weights, post_transform, binary, arithmetic)
    return named(best, classlabels_int64s, classlabels_strings), scores


def _decided(
    scores: np.ndarray,
    weights: np.ndarray,
    how: str,
    binary: bool,
    arithmetic: Arithmetic,
) -> tuple[np.ndarray, np.ndarray]:
    """The index of the class each row is put in, and the scores as they are told."""
    if not binary:
        return scores.argmax(axis=1), transformed(scores, how, arithmetic)
    probabilities = bool((weights >= 0).all())
    best = (scores[:, 0] > (0.5 if probabilities else 0)).astype(np.int64)
    return best, two_sided(scores, how, probabilities=probabilities, arithmetic=arithmetic)


fast = partial(_classifier, FAST)
exact = partial(_classifier, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
