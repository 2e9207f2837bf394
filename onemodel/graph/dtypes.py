"""NumPy dtypes and ONNX's names for them: element numbers, ``tensor(float)`` and back.

Narrow floats and integers (bfloat16, float8, int4, ...) are the dtypes of
ml_dtypes. Strings are arrays of Python ``str`` with dtype ``object``.
"""

from __future__ import annotations

from functools import cache

import ml_dtypes
import numpy as np
import numpy.typing as npt
from onnx import TensorProto

STRING = np.dtype(object)
"""The dtype of a tensor of strings."""

_ROWS: tuple[tuple[int, str, npt.DTypeLike], ...] = (
    (TensorProto.FLOAT, "float", np.float32),
    (TensorProto.UINT8, "uint8", np.uint8),
    (TensorProto.INT8, "int8", np.int8),
    (TensorProto.UINT16, "uint16", np.uint16),
    (TensorProto.INT16, "int16", np.int16),
    (TensorProto.INT32, "int32", np.int32),
    (TensorProto.INT64, "int64", np.int64),
    (TensorProto.STRING, "string", object),
    (TensorProto.BOOL, "bool", np.bool_),
    (TensorProto.FLOAT16, "float16", np.float16),
    (TensorProto.DOUBLE, "double", np.float64),
    (TensorProto.UINT32, "uint32", np.uint32),
    (TensorProto.UINT64, "uint64", np.uint64),
    (TensorProto.COMPLEX64, "complex64", np.complex64),
    (TensorProto.COMPLEX128, "complex128", np.complex128),
    (TensorProto.BFLOAT16, "bfloat16", ml_dtypes.bfloat16),
    (TensorProto.FLOAT8E4M3FN, "float8e4m3fn", ml_dtypes.float8_e4m3fn),
    (TensorProto.FLOAT8E4M3FNUZ, "float8e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    (TensorProto.FLOAT8E5M2, "float8e5m2", ml_dtypes.float8_e5m2),
    (TensorProto.FLOAT8E5M2FNUZ, "float8e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
)

# Element types that older releases of onnx or ml_dtypes do not have.
_RECENT: tuple[tuple[str, str, str], ...] = (
    ("UINT4", "uint4", "uint4"),
    ("INT4", "int4", "int4"),
    ("FLOAT4E2M1", "float4e2m1", "float4_e2m1fn"),
    ("FLOAT8E8M0", "float8e8m0", "float8_e8m0fnu"),
    ("UINT2", "uint2", "uint2"),
    ("INT2", "int2", "int2"),
    ("FLOAT6E2M3", "float6e2m3", "float6_e2m3fn"),
    ("FLOAT6E3M2", "float6e3m2", "float6_e3m2fn"),
)


def _table() -> tuple[tuple[int, str, np.dtype], ...]:
    rows = [(number, name, np.dtype(kind)) for number, name, kind in _ROWS]
    for member, name, attribute in _RECENT:
        number, kind = getattr(TensorProto, member, None), getattr(ml_dtypes, attribute, None)
        if number is not None and kind is not None:
            rows.append((number, name, np.dtype(kind)))
    return tuple(rows)


_TABLE = _table()
_FROM_ELEMENT = {number: dtype for number, _, dtype in _TABLE}
_TO_ELEMENT = {dtype: number for number, _, dtype in _TABLE}
_FROM_NAME = {name: dtype for _, name, dtype in _TABLE}
_TO_NAME = {dtype: name for _, name, dtype in _TABLE}


def dtype_of_element(element: int) -> np.dtype | None:
    """The dtype of ``TensorProto.DataType`` number ``element``, or None where it is unknown."""
    return _FROM_ELEMENT.get(element)


def element_of_dtype(dtype: np.dtype) -> int:
    """``TensorProto.DataType`` number of ``dtype``; TypeError where ONNX has no such type."""
    if dtype.kind in "US":
        return TensorProto.STRING
    try:
        return _TO_ELEMENT[dtype.newbyteorder("=")]
    except KeyError:
        raise TypeError(f"ONNX has no element type for dtype {dtype}") from None


def element_name(dtype: np.dtype) -> str:
    """ONNX's name of an element type: ``float`` for float32, ``double`` for float64, ..."""
    element_of_dtype(dtype)
    return "string" if dtype.kind in "US" else _TO_NAME[dtype.newbyteorder("=")]


def dtype_of_name(name: str) -> np.dtype | None:
    """The dtype ONNX calls ``name`` (``float``, ``int64``), or None."""
    return _FROM_NAME.get(name)


@cache
def dtype_of_type(type_text: str) -> np.dtype | None:
    """The element dtype of ``tensor(float)``; None for sequences, optionals and maps."""
    if type_text.startswith("tensor(") and type_text.endswith(")"):
        return _FROM_NAME.get(type_text[7:-1])
    return None
