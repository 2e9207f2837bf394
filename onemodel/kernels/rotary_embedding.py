"""ONNX RotaryEmbedding (since 23): pairs of features rotated by position."""

import numpy as np

NODE_TYPE = "RotaryEmbedding"


def fast(
    x: np.ndarray,
    cos_cache: np.ndarray,
    sin_cache: np.ndarray,
    position_ids: np.ndarray | None = None,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> np.ndarray:
    """Rotate (B, H, S, D), or (B, S, H * D) with ``num_heads``, by cached cosines and sines.

    The caches are (max position, d / 2) with ``position_ids`` (B, S), else
    (B, S, d / 2), where d is ``rotary_embedding_dim`` or the head size; features
    beyond d pass through. ``interleaved`` pairs neighbours instead of halves.

    Raises:
        ValueError: caches of the wrong width, or a rank-3 input without ``num_heads``.
    """
    heads = x.swapaxes(1, 2) if x.ndim == 4 else _split_heads(x, num_heads)
    size = rotary_embedding_dim or heads.shape[-1]
    cos = cos_cache[position_ids] if position_ids is not None else cos_cache
    sin = sin_cache[position_ids] if position_ids is not None else sin_cache
    if cos.shape[-1] != size // 2 or sin.shape[-1] != size // 2:
        raise ValueError(
            f"RotaryEmbedding: caches of width {cos.shape[-1]} and {sin.shape[-1]} "
            f"do not rotate {size} features; they need {size // 2}"
        )
    cos, sin = cos[:, :, None, :], sin[:, :, None, :]
    if interleaved:
        first, second = slice(0, size, 2), slice(1, size, 2)
    else:
        first, second = slice(0, size // 2), slice(size // 2, size)
    a, b = heads[..., first], heads[..., second]
    result = np.empty(heads.shape, x.dtype)
    result[..., first] = cos * a - sin * b
    result[..., second] = sin * a + cos * b
    result[..., size:] = heads[..., size:]
    return result.swapaxes(1, 2) if x.ndim == 4 else result.reshape(x.shape)


def _split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    if num_heads <= 0:
        raise ValueError("RotaryEmbedding: an input of rank 3 needs num_heads")
    return x.reshape(x.shape[0], x.shape[1], num_heads, -1)


VERSIONS = {23: fast}

# Products and sums are calls of their own, which no compiler contracts.
EXACT = VERSIONS
