"""Scaled dot-product attention: heads, masks and the softmax in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from onemodel.kernels import mat_mul
from onemodel.kernels.exact import functions as exact_functions
from onemodel.kernels.exact.sum import total


def _sum_rows(x: np.ndarray) -> np.ndarray:
    return np.sum(x, axis=-1, keepdims=True, dtype=x.dtype)


def _sum_rows_exactly(x: np.ndarray) -> np.ndarray:
    return total(x, (-1,), keepdims=True).astype(x.dtype)


Function = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Arithmetic:
    """Who multiplies matrices, adds rows and computes what IEEE 754 does not round."""

    matmul: Callable[[np.ndarray, np.ndarray], np.ndarray]
    exp: Function
    tanh: Function
    sum_rows: Function


FAST = Arithmetic(mat_mul.fast, np.exp, np.tanh, _sum_rows)
EXACT = Arithmetic(mat_mul.exact, exact_functions.exp, exact_functions.tanh, _sum_rows_exactly)


def split_heads(x: np.ndarray, num_heads: int) -> np.ndarray:
    """(B, S, H * D) to (B, H, S, D).

    Raises:
        ValueError: the width does not divide into the heads.
    """
    batch, length, width = x.shape
    if num_heads <= 0 or width % num_heads:
        raise ValueError(f"{width} features do not divide into {num_heads} heads")
    return x.reshape(batch, length, num_heads, width // num_heads).swapaxes(1, 2)


def merge_heads(x: np.ndarray) -> np.ndarray:
    """(B, H, S, D) to (B, S, H * D)."""
    batch, heads, length, size = x.shape
    return x.swapaxes(1, 2).reshape(batch, length, heads * size)


def grouped_matmul(q: np.ndarray, k: np.ndarray, arithmetic: Arithmetic = FAST) -> np.ndarray:
    """q (B, Hq, M, K) @ k (B, Hkv, K, N), each kv head serving Hq / Hkv query heads.

    Raises:
        ValueError: the heads do not divide.
    """
    heads, kv_heads = q.shape[1], k.shape[1]
    if heads == kv_heads:
        return arithmetic.matmul(q, k)
    if kv_heads == 0 or heads % kv_heads:
        raise ValueError(f"{heads} query heads do not divide into {kv_heads} key/value heads")
    grouped = q.reshape(q.shape[0], kv_heads, heads // kv_heads, *q.shape[2:])
    result = arithmetic.matmul(grouped, k[:, :, None])
    return result.reshape(q.shape[0], heads, *result.shape[3:])


def softmax_rows(scores: np.ndarray, arithmetic: Arithmetic = FAST) -> np.ndarray:
    """Softmax of the last axis in the dtype given; a row of -inf gives zeros, not NaN."""
    top = np.max(scores, axis=-1, keepdims=True)
    masked = np.isneginf(top)
    if masked.any():
        top = np.where(masked, scores.dtype.type(0), top)
    result = arithmetic.exp(scores - top)
    sums = arithmetic.sum_rows(result)
    if masked.any():
        sums = np.where(sums == 0, scores.dtype.type(1), sums)
    result /= sums
    return result
