"""ONNX FlexAttention (ai.onnx.preview, since 1): attention with functions on the scores."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels import _attention
from onemodel.kernels._attention import Arithmetic, grouped_matmul
from onemodel.kernels._dtypes import is_narrow, numpy_dtype

NODE_TYPE = "FlexAttention"
DOMAIN = "ai.onnx.preview"

Modifier = Callable[[np.ndarray], tuple[np.ndarray]]
"""A subgraph as a function; like every subgraph it returns a tuple of outputs."""


def _attend(
    arithmetic: Arithmetic,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    *,
    prob_mod: Modifier | None = None,
    scale: float | None = None,
    score_mod: Modifier | None = None,
    softmax_precision: int | None = None,
) -> np.ndarray:
    """softmax(scale q k') v over (B, H, S, D), with subgraphs on scores and probabilities.

    ``score_mod`` and ``prob_mod`` are the node's subgraphs as functions of one array
    (B, Hq, S, T). The softmax is in ``softmax_precision``, else in at least float32.
    """
    scale = 1.0 / np.sqrt(q.shape[-1]) if scale is None else scale
    factor = np.asarray(np.sqrt(np.float32(scale)), dtype=q.dtype)
    scores = grouped_matmul(q * factor, (k * factor).swapaxes(-1, -2), arithmetic)
    if softmax_precision is not None:
        dtype = numpy_dtype(softmax_precision)
    else:
        dtype = np.dtype(np.float32) if is_narrow(q.dtype) else q.dtype
    scores = scores.astype(dtype, copy=False)
    if score_mod is not None:
        scores = np.asarray(score_mod(scores)[0], dtype=dtype)
    weights = arithmetic.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights /= arithmetic.sum_rows(weights)
    if prob_mod is not None:
        weights = np.asarray(prob_mod(weights)[0], dtype=dtype)
    result = grouped_matmul(weights, v.astype(dtype, copy=False), arithmetic)
    return result.astype(v.dtype, copy=False)


fast = partial(_attend, _attention.FAST)
exact = partial(_attend, _attention.EXACT)

VERSIONS = {1: fast}
EXACT = {1: exact}
