"""ONNX TreeEnsembleRegressor (ai.onnx.ml, since 1, 3, 5): forests and boosted trees."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from onemodel.kernels._ml import as_array, leaves, transformed, votes
from onemodel.kernels._ml_arithmetic import EXACT as EXACTLY
from onemodel.kernels._ml_arithmetic import FAST, Arithmetic

NODE_TYPE = "TreeEnsembleRegressor"
DOMAIN = "ai.onnx.ml"


def _regressor(
    arithmetic: Arithmetic,
    x: np.ndarray,
    *,
    aggregate_function: str = "SUM",
    base_values: Sequence[float] | None = None,
    base_values_as_tensor: np.ndarray | None = None,
    n_targets: int = 1,
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
    target_ids: Sequence[int],
    target_nodeids: Sequence[int],
    target_treeids: Sequence[int],
    target_weights: Sequence[float] | None = None,
    target_weights_as_tensor: np.ndarray | None = None,
) -> np.ndarray:
    """x (N, features) to float32 (N, n_targets)."""
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
    scores = votes(
        ends,
        index,
        treeids=target_treeids,
        nodeids=target_nodeids,
        targets=target_ids,
        weights=as_array(target_weights_as_tensor, target_weights),
        count=n_targets,
        how=aggregate_function,
        arithmetic=arithmetic,
    )
    base = as_array(base_values_as_tensor, base_values)
    if base.size:
        scores = scores + base
    return transformed(scores.astype(np.float32), post_transform, arithmetic)


fast = partial(_regressor, FAST)
exact = partial(_regressor, EXACTLY)

VERSIONS = {1: fast}
EXACT = {1: exact}
