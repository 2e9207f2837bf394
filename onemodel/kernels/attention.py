"""ONNX Attention (since 23, 24, 25): scaled dot-product attention with cache, masks and groups."""

from collections.abc import Callable
from functools import partial

import numpy as np

from onemodel.kernels import _attention
from onemodel.kernels._attention import (
    Arithmetic,
    grouped_matmul,
    merge_heads,
    softmax_rows,
    split_heads,
)
from onemodel.kernels._dtypes import numpy_dtype

NODE_TYPE = "Attention"

Outputs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _attend(
    arithmetic: Arithmetic,
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    nonpad_kv_seqlen: np.ndarray | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    left_window_size: int = -1,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    right_window_size: int = -1,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Outputs:
    """(Y, present_key, present_value, qk_matmul_output).

    q (B, Hq, S, D), k and v (B, Hkv, T, D), or rank 3 with ``q_num_heads`` and
    ``kv_num_heads``. A bool mask keeps where True; others are added. Causal and
    sliding windows are aligned to the end of the keys that precede the queries:
    the past, or ``nonpad_kv_seqlen``. A fully masked row gives zeros.
    ``qk_matmul_output_mode`` shows the scores raw (0), capped (1), with the mask
    (2) or after softmax (3).

    Raises:
        ValueError: half a cache, a cache beside ``nonpad_kv_seqlen``, or heads that
            do not divide.
    """
    if (past_key is None) != (past_value is None):
        raise ValueError("Attention: give past_key and past_value together")
    if past_key is not None and nonpad_kv_seqlen is not None:
        raise ValueError("Attention: nonpad_kv_seqlen excludes past_key and past_value")
    rank = q.ndim
    if rank == 3:
        q = split_heads(q, q_num_heads or 0)
        k, v = split_heads(k, kv_num_heads or 0), split_heads(v, kv_num_heads or 0)
    past = 0
    if past_key is not None and past_value is not None:
        past = past_key.shape[2]
        k = np.concatenate((past_key, k), axis=2)
        v = np.concatenate((past_value, v), axis=2)
    factor = q.dtype.type(np.sqrt(1 / np.sqrt(q.shape[-1]) if scale is None else scale))
    scores = grouped_matmul(q * factor, (k * factor).swapaxes(-1, -2), arithmetic)
    shown = scores
    if softcap > 0:
        scores = arithmetic.tanh(scores / scores.dtype.type(softcap)) * scores.dtype.type(softcap)
        shown = scores if qk_matmul_output_mode == 1 else shown
    windows = (bool(is_causal), left_window_size, right_window_size)
    bias = _bias(q, k.shape[2], attn_mask, past, nonpad_kv_seqlen, *windows)
    if bias is not None:
        scores = scores + bias
    shown = scores if qk_matmul_output_mode == 2 else shown
    weights = scores
    if softmax_precision is not None:
        weights = weights.astype(numpy_dtype(softmax_precision), copy=False)
    weights = softmax_rows(weights, arithmetic)
    if bias is not None:
        empty = np.isneginf(np.max(bias, axis=-1, keepdims=True))
        if empty.any():
            weights = np.where(empty, weights.dtype.type(0), weights)
    weights = weights.astype(q.dtype, copy=False)
    shown = weights if qk_matmul_output_mode == 3 else shown
    y = grouped_matmul(weights, v, arithmetic)
    return merge_heads(y) if rank == 3 else y, k, v, shown


fast = partial(_attend, _attention.FAST)
exact = partial(_attend, _attention.EXACT)


def _bias(
    q: np.ndarray,
    keys: int,
    mask: np.ndarray | None,
    past: int,
    lengths: np.ndarray | None,
    causal: bool,
    left: int,
    right: int,
) -> np.ndarray | None:
    """What is added to the scores: 0 or the mask where a key may be seen, else -inf."""
    nothing = q.dtype.type(-np.inf)
    bias = None
    if mask is not None:
        missing = keys - mask.shape[-1]
        if missing > 0:
            widths = [(0, 0)] * (mask.ndim - 1) + [(0, missing)]
            fill = False if mask.dtype == bool else nothing
            mask = np.pad(mask, widths, constant_values=fill)
        if mask.dtype == bool:
            mask = np.where(mask, q.dtype.type(0), nothing)
        bias = mask
    allowed = _visible(q.shape[2], keys, past, lengths, causal, left, right)
    if allowed is None:
        return bias
    hidden = np.where(allowed, q.dtype.type(0), nothing)
    return hidden if bias is None else bias + hidden


def _visible(
    queries: int,
    keys: int,
    past: int,
    lengths: np.ndarray | None,
    causal: bool,
    left: int,
    right: int,
) -> np.ndarray | None:
    """Which keys each query may see, (S, T) or (B, 1, S, T); None for all."""
    if not causal and left < 0 and right < 0 and lengths is None:
        return None
    key = np.arange(keys)
    place = np.arange(queries)[:, None] + past
    if lengths is not None:
        place = place + (lengths.reshape(-1, 1, 1, 1) - queries)
    allowed = np.ones(np.broadcast_shapes(place.shape, (1, keys)), dtype=bool)
    if causal:
        allowed &= key <= place
    if left >= 0:
        allowed &= place - key <= left
    if right >= 0:
        allowed &= key - place <= right
    if lengths is not None:
        allowed &= key < lengths.reshape(-1, 1, 1, 1)
    return allowed


def _attend_23(
    attend: Callable[..., Outputs],
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    attn_mask: np.ndarray | None = None,
    past_key: np.ndarray | None = None,
    past_value: np.ndarray | None = None,
    nonpad_kv_seqlen: np.ndarray | None = None,
    *,
    is_causal: int = 0,
    kv_num_heads: int | None = None,
    q_num_heads: int | None = None,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
) -> Outputs:
    """Opset 23, and 24 with ``nonpad_kv_seqlen``: no sliding windows."""
    return attend(
        q,
        k,
        v,
        attn_mask,
        past_key,
        past_value,
        nonpad_kv_seqlen,
        is_causal=is_causal,
        kv_num_heads=kv_num_heads,
        q_num_heads=q_num_heads,
        qk_matmul_output_mode=qk_matmul_output_mode,
        scale=scale,
        softcap=softcap,
        softmax_precision=softmax_precision,
    )


VERSIONS = {23: partial(_attend_23, fast), 25: fast}
EXACT = {23: partial(_attend_23, exact), 25: exact}
