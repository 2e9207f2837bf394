"""Conversion between element types by ONNX's rules, strings and 8-bit floats included."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from onemodel.kernels._dtypes import BFLOAT16, NUMPY_DTYPES, STRING, is_float
from onemodel.kernels._quantize import integer_range
from onemodel.kernels.exact.nan import canonical_nan

_E8M0 = NUMPY_DTYPES.get(24)
"""float8e8m0, a power of two without sign; None where ml_dtypes is too old for it."""
_SATURATING = frozenset(
    np.dtype(scalar)
    for scalar in (
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e5m2fnuz,
    )
)
_SMALL_FLOATS = frozenset(
    dtype for code, dtype in NUMPY_DTYPES.items() if dtype.name.startswith("float") and code > 16
)

_SPECIAL = {"nan": "NaN", "inf": "INF", "-inf": "-INF"}
"""ONNX spells these out; float32 comes with the 8 digits that ONNX Runtime prints."""


def cast(
    x: np.ndarray, dtype: np.dtype, saturate: bool = True, round_mode: str = "up"
) -> np.ndarray:
    """``x`` as ``dtype``; ``x`` itself where nothing changes."""
    if x.dtype == dtype:
        return x
    if x.dtype.kind in "OUST":
        return _from_strings(x, dtype)
    if dtype == STRING:
        return _to_strings(x)
    if dtype in _SATURATING:
        return _to_float8(x, dtype, saturate)
    if _E8M0 is not None and dtype == _E8M0:
        return to_exponent(x, saturate, round_mode)
    if dtype.kind == "V" and x.dtype.kind in "iu" and dtype != BFLOAT16:
        return _narrowest(x, dtype)
    return x.astype(dtype)


def exact_cast(
    x: np.ndarray, dtype: np.dtype, saturate: bool = True, round_mode: str = "up"
) -> np.ndarray:
    """:func:`cast` where processors agree: floats saturate to integers, NaN becomes zero.

    To the integers below 8 bits ONNX drops the high bits; they are those of int64 here.
    """
    if x.dtype == dtype:
        return x
    if integer_range(dtype) is None or not (is_float(x.dtype) or x.dtype in _SMALL_FLOATS):
        return cast(canonical_nan(x), dtype, saturate, round_mode)
    if dtype.kind == "V":
        return _to_integer(x, np.dtype(np.int64)).astype(dtype)
    return _to_integer(x, dtype)


def _to_integer(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Cut off toward zero, to the limits of ``dtype`` beyond them; NaN as 0."""
    limits = np.iinfo(dtype)
    wide = x.astype(np.float64)
    # limits.max + 1 is a power of two, which float64 holds where it may not hold limits.max.
    above, below = np.asarray(wide >= limits.max + 1.0), np.asarray(wide < float(limits.min))
    result = np.asarray(np.where(above | below | (wide != wide), 0.0, wide).astype(dtype))
    result[above], result[below] = limits.max, limits.min
    return result


def _narrowest(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    # Through a wide integer or float, whose conversions ml_dtypes all knows.
    return x.astype(np.int64).astype(dtype)


def _from_strings(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    words = [str(word) for word in x.reshape(-1)]
    if dtype.kind in "iu":
        numbers = [_whole(word) for word in words]
    else:
        numbers = [float(word) for word in words]
    if is_float(dtype) or dtype.kind in "iub":
        wide = np.float64 if dtype == BFLOAT16 else dtype
        return np.array(numbers, dtype=wide).astype(dtype, copy=False).reshape(x.shape)
    return cast(np.array(numbers, dtype=np.float32).reshape(x.shape), dtype)


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        return int(float(word))


def _to_strings(x: np.ndarray) -> np.ndarray:
    if x.dtype.kind == "b":
        return np.where(x, "1", "0").astype(object)
    if x.dtype.kind in "iu":
        return x.astype(np.str_).astype(object)
    if x.dtype == np.float64:
        words = [repr(value).removesuffix(".0") for value in x.ravel().tolist()]
    else:
        words = [f"{value:.8g}" for value in x.ravel().tolist()]
    words = [_SPECIAL.get(word, word) for word in words]
    result = np.empty(x.size, dtype=object)
    result[:] = words
    return result.reshape(x.shape)


def _to_float8(x: np.ndarray, dtype: np.dtype, saturate: bool) -> np.ndarray:
    if not saturate:
        return x.astype(dtype)
    limit = float(ml_dtypes.finfo(dtype).max)
    wide = x.astype(np.float64) if x.dtype.kind in "iub" else x
    wide = wide.astype(np.float32) if wide.dtype.kind == "V" else wide
    return np.clip(wide, -limit, limit).astype(dtype)


def to_exponent(x: np.ndarray, saturate: bool, round_mode: str) -> np.ndarray:
    """``x`` as float8e8m0, a power of two, rounded ``up``, ``down`` or to the ``nearest``.

    Raises:
        TypeError: this ml_dtypes has no such type.
        ValueError: an unknown rounding mode.
    """
    if _E8M0 is None:
        raise TypeError("float8e8m0 needs ml_dtypes 0.5 or newer")
    bits = np.ascontiguousarray(x, dtype=np.float32).view(np.uint32).reshape(x.shape)
    exponent = (bits >> 23) & 0xFF
    fraction = bits & 0x7FFFFF
    if round_mode == "up":
        above = fraction > 0
    elif round_mode == "nearest":
        # Ties go to the even mantissa, which is the next power of two, except at zero.
        above = (fraction > 0x400000) | ((fraction == 0x400000) & (exponent > 0))
    elif round_mode == "down":
        above = np.zeros(x.shape, dtype=bool)
    else:
        raise ValueError(f"round_mode={round_mode!r}; write 'up', 'down' or 'nearest'")
    finite = exponent != 0xFF
    above &= finite
    if saturate:
        above &= exponent != 0xFE
    return (exponent + above).astype(np.uint8).view(_E8M0)
