"""Dtypes and PyTorch's promotion.

A dtype is a ``numpy.dtype``; bfloat16 comes from ``ml_dtypes``. Promotion differs from NumPy's:
a tensor with dimensions outweighs a 0-d tensor, which outweighs a Python number, unless the
lighter one is of a higher category (bool < integer < floating < complex).
Source: https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np

DType: TypeAlias = np.dtype

float16: DType = np.dtype(np.float16)
bfloat16: DType = np.dtype(ml_dtypes.bfloat16)
float32: DType = np.dtype(np.float32)
float64: DType = np.dtype(np.float64)
int8: DType = np.dtype(np.int8)
int16: DType = np.dtype(np.int16)
int32: DType = np.dtype(np.int32)
int64: DType = np.dtype(np.int64)
uint8: DType = np.dtype(np.uint8)
uint16: DType = np.dtype(np.uint16)
uint32: DType = np.dtype(np.uint32)
uint64: DType = np.dtype(np.uint64)
bool_: DType = np.dtype(np.bool_)
complex64: DType = np.dtype(np.complex64)
complex128: DType = np.dtype(np.complex128)

half, double, long = float16, float64, int64

FLOATING = (float16, bfloat16, float32, float64)
INTEGER = (int8, int16, int32, int64, uint8, uint16, uint32, uint64)
COMPLEX = (complex64, complex128)
ALL = (*FLOATING, *INTEGER, bool_, *COMPLEX)

_CATEGORIES = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
"""By NumPy's kind of dtype; that of bfloat16 says nothing."""

_default = [float32]


def get_default_dtype() -> DType:
    """The dtype of Python floats and of factories without a dtype (float32 at first)."""
    return _default[0]


def set_default_dtype(dtype: Any) -> None:
    """Set the default floating dtype. Raises TypeError for any other dtype."""
    wanted = as_dtype(dtype)
    if wanted not in FLOATING:
        raise TypeError(f"the default dtype must be floating, not {wanted}")
    _default[0] = wanted


@lru_cache(maxsize=256)
def _cached_dtype(dtype: Any) -> DType:
    if dtype is float:
        raise TypeError
    found = np.dtype(dtype)
    if found not in ALL:
        raise TypeError
    return found


def as_dtype(dtype: Any) -> DType:
    """``om.float32``, ``np.float32``, ``"float32"``, ``float``, ``int`` or ``bool`` as a dtype.

    ``float`` is the default dtype. Raises TypeError naming what is supported.
    """
    if dtype is float:
        return get_default_dtype()
    if isinstance(dtype, str) and dtype == "bfloat16":
        return bfloat16
    try:
        return _cached_dtype(dtype)
    except TypeError:
        names = ", ".join(d.name for d in ALL)
        raise TypeError(f"{dtype!r} is not a dtype of tensors; there are {names}") from None


def category(dtype: DType) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    return _CATEGORIES.get(dtype.kind, 2)


def is_floating(dtype: DType) -> bool:
    return dtype in FLOATING


def number_dtype(value: Any) -> DType:
    """The dtype a bare Python number takes when it stands alone."""
    if isinstance(value, (bool, np.bool_)):
        return bool_
    if isinstance(value, (int, np.integer)):
        return int64
    if isinstance(value, (float, np.floating)):
        return get_default_dtype()
    if isinstance(value, (complex, np.complexfloating)):
        return complex128 if get_default_dtype() == float64 else complex64
    raise TypeError(f"expected a number, not {type(value).__name__}")


@lru_cache(maxsize=1024)
def promote_types(first: DType, second: DType) -> DType:
    """The dtype that two tensors of equal weight meet in."""
    if first == second:
        return first
    one, two = category(first), category(second)
    if one != two:
        low, high = (first, second) if one < two else (second, first)
        if category(high) == 3 and category(low) == 2:
            return complex128 if low == float64 or high == complex128 else complex64
        return high
    if one == 2:
        if {first, second} == {float16, bfloat16}:
            return float32
        return first if first.itemsize >= second.itemsize else second
    if one == 1 and uint64 in (first, second) and "i" in (first.kind, second.kind):
        raise TypeError(f"{first} and {second} have no common integer dtype; convert one of them")
    return np.promote_types(first, second)


def result_type(operands: Iterable[Any]) -> DType:
    """The dtype in which ``operands`` (tensors, arrays with ``dtype``/``ndim``, numbers) meet."""
    groups: list[DType | None] = [None, None, None]  # with dimensions, 0-d, numbers
    for operand in operands:
        dtype = getattr(operand, "dtype", None)
        if dtype is None or isinstance(operand, np.generic):
            rank, found = 2, number_dtype(operand)
        else:
            rank, found = (0 if operand.ndim else 1), dtype
        known = groups[rank]
        groups[rank] = found if known is None else promote_types(known, found)
    result: DType | None = None
    for rank, found in enumerate(groups):
        if found is None:
            continue
        if result is None:
            result = found
        elif category(found) > category(result):
            # A lighter operand of a higher category wins; a number brings only its category.
            if rank == 2 and category(found) == 2:
                result = get_default_dtype()
            elif rank == 2 and category(found) == 3:
                real = result if category(result) == 2 else get_default_dtype()
                result = complex128 if real == float64 else complex64
            else:
                result = found
    if result is None:
        raise TypeError("no operand to take a dtype from")
    return result
