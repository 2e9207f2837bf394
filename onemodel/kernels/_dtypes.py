"""ONNX element types as NumPy dtypes, and how narrow floats are computed."""

from __future__ import annotations

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
STRING = np.dtype(object)
"""Strings are Python ``str`` in object arrays."""

NUMPY_DTYPES: dict[int, np.dtype] = {
    1: np.dtype(np.float32),
    2: np.dtype(np.uint8),
    3: np.dtype(np.int8),
    4: np.dtype(np.uint16),
    5: np.dtype(np.int16),
    6: np.dtype(np.int32),
    7: np.dtype(np.int64),
    8: STRING,
    9: np.dtype(np.bool_),
    10: np.dtype(np.float16),
    11: np.dtype(np.float64),
    12: np.dtype(np.uint32),
    13: np.dtype(np.uint64),
    14: np.dtype(np.complex64),
    15: np.dtype(np.complex128),
    16: BFLOAT16,
}
"""``TensorProto.DataType`` number to dtype."""

_SMALL_TYPES = {
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
    23: "float4_e2m1fn",
    24: "float8_e8m0fnu",
    25: "uint2",
    26: "int2",
    27: "float6_e2m3fn",
    28: "float6_e3m2fn",
}
for _code, _name in _SMALL_TYPES.items():
    if hasattr(ml_dtypes, _name):  # the rarest came with later releases
        NUMPY_DTYPES[_code] = np.dtype(getattr(ml_dtypes, _name))

_NARROW = frozenset({np.dtype(np.float16), BFLOAT16})
_FLOATS = frozenset({np.dtype(np.float32), np.dtype(np.float64)}) | _NARROW


def numpy_dtype(code: int) -> np.dtype:
    """The dtype of an ONNX ``TensorProto.DataType`` number.

    Raises:
        TypeError: ONNX has no such element type, or this ml_dtypes lacks it.
    """
    try:
        return NUMPY_DTYPES[int(code)]
    except KeyError:
        raise TypeError(
            f"ONNX element type {code} has no NumPy dtype here; "
            f"known numbers are {min(NUMPY_DTYPES)} to {max(NUMPY_DTYPES)}"
        ) from None


def widen(array: np.ndarray) -> np.ndarray:
    """float16 and bfloat16 as float32 (exact), everything else untouched."""
    narrow = array.dtype.itemsize == 2 and array.dtype in _NARROW
    return array.astype(np.float32) if narrow else array


def is_float(dtype: np.dtype) -> bool:
    """True for float16, bfloat16, float32 and float64."""
    return dtype in _FLOATS


def is_narrow(dtype: np.dtype) -> bool:
    """True for the floats that are computed in float32: float16 and bfloat16."""
    return dtype in _NARROW


def lowest(dtype: np.dtype) -> int | float:
    """The neutral element of max: minus infinity, or the smallest integer."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).min)
    return False if dtype.kind == "b" else -np.inf


def highest(dtype: np.dtype) -> int | float:
    """The neutral element of min: infinity, or the largest integer."""
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    return True if dtype.kind == "b" else np.inf
