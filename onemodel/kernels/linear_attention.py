"""ONNX LinearAttention (since 27): attention as a recurrence over a matrix state."""

from functools import partial

import numpy as np

from onemodel.kernels import _attention
from onemodel.kernels._attention import Arithmetic, merge_heads, split_heads

NODE_TYPE = "LinearAttention"

_GATED = ("gated", "gated_delta")
_DELTA = ("delta", "gated_delta")


def _attend(
    arithmetic: Arithmetic,
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    past_state: np.ndarray | None = None,
    decay: np.ndarray | None = None,
    beta: np.ndarray | None = None,
    *,
    chunk_size: int = 64,
    kv_num_heads: int,
    q_num_heads: int,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
) -> tuple[np.ndarray, np.ndarray]:
    """(output (B, T, Hq * dv), present_state (B, Hkv, dk, dv)).

    query (B, T, Hq * dk), key (B, T, Hkv * dk), value (B, T, Hkv * dv). Each step
    fades the state by exp(decay), writes the outer product of key and value (the
    value corrected by what the state already returns, times beta, for the delta
    rules) and reads it with the query. Computed in float32; ``chunk_size`` is a hint.

    Raises:
        ValueError: an unknown rule, or inputs that do not belong to it.
    """
    _check(update_rule, decay, beta, q_num_heads, kv_num_heads)
    q = split_heads(query, q_num_heads).astype(np.float32)
    k = split_heads(key, kv_num_heads).astype(np.float32)
    v = split_heads(value, kv_num_heads).astype(np.float32)
    batch, _, steps, size = q.shape
    if past_state is None:
        state = np.zeros((batch, kv_num_heads, size, v.shape[-1]), np.float32)
    else:
        state = past_state.astype(np.float32)
    fade = None
    if decay is not None:
        fade = arithmetic.exp(split_heads(decay, kv_num_heads).astype(np.float32))[..., None]
    rate = None if beta is None else beta.astype(np.float32).swapaxes(1, 2)[..., None, None]
    group = q_num_heads // kv_num_heads
    grouped = q.reshape(batch, kv_num_heads, group, steps, size)
    output = np.empty((batch, kv_num_heads, group, steps, v.shape[-1]), np.float32)
    for t in range(steps):
        if fade is not None:
            state = state * fade[:, :, t]
        column, row = k[:, :, t, :, None], v[:, :, t, None, :]
        if rate is not None:
            row = rate[:, :, t] * (row - arithmetic.matmul(column.swapaxes(-1, -2), state))
        state = state + column * row
        output[:, :, :, t] = arithmetic.matmul(grouped[:, :, :, t], state)
    output *= np.float32(scale or 1.0 / np.sqrt(size))
    merged = merge_heads(output.reshape(batch, q_num_heads, steps, -1))
    kept = query.dtype if past_state is None else past_state.dtype
    return merged.astype(query.dtype, copy=False), state.astype(kept, copy=False)


def _check(
    rule: str, decay: np.ndarray | None, beta: np.ndarray | None, heads: int, kv_heads: int
) -> None:
    if rule not in ("linear", *_GATED, "delta"):
        raise ValueError(
            f"LinearAttention: update_rule={rule!r}; write linear, gated, delta or gated_delta"
        )
    if (decay is not None) != (rule in _GATED) or (beta is not None) != (rule in _DELTA):
        raise ValueError(
            f"LinearAttention: update_rule={rule!r} takes "
            f"{'a' if rule in _GATED else 'no'} decay and {'a' if rule in _DELTA else 'no'} beta"
        )
    if kv_heads <= 0 or heads % kv_heads:
        raise ValueError(f"{heads} query heads do not divide into {kv_heads} key/value heads")


fast = partial(_attend, _attention.FAST)
exact = partial(_attend, _attention.EXACT)

VERSIONS = {27: fast}
EXACT = {27: exact}
