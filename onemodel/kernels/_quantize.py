"""Scales and zero points: how they spread over an array, and integer products without loss."""

from __future__ import annotations

import ml_dtypes
import numpy as np

_EXACT_IN_FLOAT32 = 256
"""Sums of this many products of two 9-bit integers stay below 2 ** 24."""

_INTEGERS = {
    np.dtype(scalar): (int(ml_dtypes.iinfo(scalar).min), int(ml_dtypes.iinfo(scalar).max))
    for name in ("int4", "uint4", "int2", "uint2")
    if (scalar := getattr(ml_dtypes, name, None)) is not None
}


def integer_range(dtype: np.dtype) -> tuple[int, int] | None:
    """The smallest and largest integer of ``dtype``; None for floats."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return _INTEGERS.get(dtype)


def spread(value: np.ndarray, shape: tuple[int, ...], axis: int, block_size: int = 0) -> np.ndarray:
    """A scale or zero point made to broadcast against ``shape``.

    One value serves the whole array, a vector the entries of ``axis``, and with
    ``block_size`` each entry serves that many neighbours on ``axis``.
    """
    if value.size == 1:
        return value.reshape(())
    if not block_size:
        along = [1] * len(shape)
        along[axis] = value.size
        return value.reshape(along)
    repeated = np.repeat(value, block_size, axis=axis)
    return repeated[(slice(None),) * (axis % len(shape)) + (slice(shape[axis]),)]


def saturated(x: np.ndarray, zero_point: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    """Nearest integers (halves to even) plus the zero point, clipped to the range of ``dtype``.

    Raises:
        TypeError: ``dtype`` is no integer type.
    """
    limits = integer_range(dtype)
    if limits is None:
        raise TypeError(f"{dtype} is no integer type to quantize to")
    result = np.rint(x.astype(np.float64))
    if zero_point is not None:
        result = result + zero_point.astype(np.float64)
    result = np.clip(result, *limits)
    return np.asarray(result).astype(np.int32).astype(dtype)


def centred(x: np.ndarray, zero_point: np.ndarray | None) -> np.ndarray:
    """``x`` minus its zero point, as int32."""
    wide = x.astype(np.int32)
    return wide if zero_point is None else wide - zero_point.astype(np.int32)


def integer_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """int32 ``a @ b`` of small integers, through floats that hold every sum exactly."""
    wide = np.float32 if a.shape[-1] <= _EXACT_IN_FLOAT32 else np.float64
    return np.asarray(np.matmul(a.astype(wide), b.astype(wide))).astype(np.int64).astype(np.int32)


def by_row(value: np.ndarray | None) -> np.ndarray | None:
    """A vector with one entry per matrix row, ready to broadcast against columns."""
    return value[:, None] if value is not None and value.ndim == 1 and value.size > 1 else value


def by_channel(value: np.ndarray | None, rank: int) -> np.ndarray | None:
    """A vector with one entry per output channel, ready to broadcast against weights."""
    if value is None or value.size == 1:
        return value
    return value.reshape((-1,) + (1,) * (rank - 1))
