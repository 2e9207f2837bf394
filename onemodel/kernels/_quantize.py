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

    NaN counts as zero: what processors make of it in an integer differs.

    Raises:
        TypeError: ``dtype`` is no integer type.
    """
    limits = integer_range(dtype)
    if limits is None:
        raise TypeError(f"{dtype} is no integer type to quantize to")
    result = np.asarray(np.rint(x if x.dtype == np.float64 else x.astype(np.float32, copy=False)))
    missing = np.isnan(result)
    if missing.any():
        result = np.where(missing, result.dtype.type(0), result)
    if zero_point is not None:
        result += zero_point.astype(result.dtype)
    result = np.clip(result, *limits, out=result)
    # NumPy knows the way from floats to the narrowest types only through int32.
    return result.astype(dtype if dtype.kind in "iu" else np.int32).astype(dtype, copy=False)


def centred(x: np.ndarray, zero_point: np.ndarray | None) -> np.ndarray:
    """``x`` minus its zero point, as int32."""
    wide = x.astype(np.int32)
    return wide if zero_point is None else wide - zero_point.astype(np.int32)


def integer_matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """int32 ``a @ b`` of 9-bit integers, in pieces whose float32 sums are all exact."""
    left, right = a.astype(np.float32), b.astype(np.float32)
    result = None
    for start in range(0, max(a.shape[-1], 1), _EXACT_IN_FLOAT32):
        piece = slice(start, start + _EXACT_IN_FLOAT32)
        rows = right[piece] if right.ndim == 1 else right[..., piece, :]
        part = np.asarray(np.matmul(left[..., piece], rows)).astype(np.int32)
        result = part if result is None else np.add(result, part, out=result)
    assert result is not None
    return result


def by_row(value: np.ndarray | None) -> np.ndarray | None:
    """A vector with one entry per matrix row, ready to broadcast against columns."""
    return value[:, None] if value is not None and value.ndim == 1 and value.size > 1 else value


def by_channel(value: np.ndarray | None, rank: int) -> np.ndarray | None:
    """A vector with one entry per output channel, ready to broadcast against weights."""
    if value is None or value.size == 1:
        return value
    return value.reshape((-1,) + (1,) * (rank - 1))
