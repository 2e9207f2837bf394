"""How exact mode computes a function of arrays: in float64, block by block, rounded once.

A core is a function ``core(x, ..., out, rows)`` of one-dimensional float64 arrays of one
length. It may use as work memory the rows it is given and must not write to its inputs.
All it does is a fixed sequence of operations that IEEE 754 rounds correctly, each a call
of its own, so that no compiler contracts a product and a sum: + - * / sqrt, rounding to
integers, comparisons, selections, and integer arithmetic on the bits. Such a sequence gives
the same bits on every machine. What element i becomes does not depend on its neighbours,
though a block that holds only ordinary values may take a shorter way to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from onemodel.kernels._dtypes import is_float, is_narrow
from onemodel.kernels._scratch import scratch

Rows = Sequence[np.ndarray]
Core = Callable[..., None]

BLOCK = 16384
"""Elements per block: the rows in use stay in the second level cache."""

_ROWS = 12
"""Work rows for the hungriest cores, softplus and acosh."""

_FLOAT64 = np.dtype(np.float64)


def in_blocks(
    core: Core, *inputs: np.ndarray, out: np.ndarray | None = None, **attributes: Any
) -> np.ndarray:
    """``core`` over arrays of one shape, rounded once to the dtype of the first.

    ``out``: a contiguous array of that shape and dtype to write to, which may be an input.
    NaN comes out as the one positive quiet NaN. No warning is ever raised: overflow to
    infinity and NaN for arguments outside the domain are the answers of IEEE 754.

    Raises:
        TypeError: the first input is no float16, bfloat16, float32 or float64 array.
        ValueError: ``out`` does not fit.
    """
    first = inputs[0]
    if not is_float(first.dtype):
        raise TypeError(f"exact functions are for floating dtypes, not {first.dtype.name}")
    result = np.empty(first.shape, first.dtype) if out is None else out
    if (result.shape, result.dtype) != (first.shape, first.dtype) or not result.flags.c_contiguous:
        raise ValueError(f"out must be a contiguous {first.dtype.name} array of {first.shape}")
    sources = [np.ascontiguousarray(array).reshape(-1) for array in inputs]
    target = result.reshape(-1)
    block = min(BLOCK, max(target.size, 1))
    count = len(sources) + 1
    narrow = is_narrow(target.dtype)
    work = scratch("exact", (count + _ROWS, block), _FLOAT64)
    with np.errstate(all="ignore"):
        for start in range(0, target.size, block):
            place = slice(start, min(start + block, target.size))
            rows = list(work[:, : place.stop - place.start])
            for row, source in zip(rows, sources, strict=False):
                row[...] = source[place]
            value = rows[count - 1]
            core(*rows[: count - 1], value, rows[count:], **attributes)
            missing = np.isnan(value)
            if missing.any():
                value[missing] = np.nan
            target[place] = rounded_to(value, target.dtype) if narrow else value
    return result


def rounded_to(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A float64 array as ``dtype``, rounded once, to nearest even.

    float16 and bfloat16 come from float32, which was rounded to odd and therefore still
    knows on which side of each tie the number lay (Boldo and Melquiond, "Emulation of FMA
    and correctly rounded sums", IEEE Trans. Computers 57, 2008). The cast of ml_dtypes goes
    by way of float32 too, but rounds to nearest twice.
    """
    if not is_narrow(dtype):
        return x.astype(dtype, copy=False)
    nearest = x.astype(np.float32)
    back = nearest.astype(np.float64)
    bits = nearest.view(np.int32)
    # An inexact even result has an odd neighbour on the other side of x. Adding one to the
    # bits goes away from zero, from the largest finite number on to infinity as well.
    even = (back != x) & ((bits & 1) == 0) & (x == x)
    bits += np.where(even, np.where(np.abs(x) > np.abs(back), 1, -1), 0).astype(np.int32)
    return nearest.astype(dtype)


def series(x: np.ndarray, terms: Sequence[float], out: np.ndarray | None = None) -> np.ndarray:
    """x times the polynomial in x of ``terms``, the highest power's first (Horner)."""
    total = np.multiply(x, terms[0], out=out)
    for term in terms[1:]:
        total += term
        total *= x
    return total


def power_of_two(exponent: np.ndarray, out: np.ndarray) -> None:
    """2**exponent for int64 exponents from -1022 to 1023, by writing the exponent's bits."""
    bits = out.view(np.int64)
    np.add(exponent, 1023, out=bits)
    np.left_shift(bits, 52, out=bits)


def positive_part(x: np.ndarray, out: np.ndarray) -> None:
    """max(x, 0), of which a zero is +0: the larger of +0 and -0 may be either."""
    np.maximum(x, 0.0, out=out)
    out += 0.0


def negative_part(x: np.ndarray, out: np.ndarray) -> None:
    """min(x, 0), of which a zero is +0: the smaller of +0 and -0 may be either."""
    np.minimum(x, 0.0, out=out)
    out += 0.0
