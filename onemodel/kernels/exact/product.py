"""Correctly rounded matrix products: the rounding of the exact sum, whoever computes it.

A product of two float32 (float16, bfloat16) numbers is exact in float64, and a sum of k such
products in any order, blocked in any way, with or without fused multiply-add, is off by less
than a bound known beforehand. Where both ends of that interval round to the same result, it
is the right one; BLAS may have computed it however it likes. The few other elements are summed
again with a far smaller bound, and the last of them without any error.

So the result depends on the operands alone: not on the machine, the BLAS, its threads and
blocks, on the batch, the memory layout or the algorithm around it.

What is assumed: BLAS sums products classically (no Strassen) in true float64.

Sources: N. J. Higham, "Accuracy and Stability of Numerical Algorithms" (2002), section 3.1,
for the bound; S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation", SIAM J.
Sci. Comput. 31 (2008), for splitting at a power of two; J. R. Shewchuk (1997) for ``fsum``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from onemodel.kernels._dtypes import is_narrow
from onemodel.kernels._scratch import scratch
from onemodel.kernels.exact.blocks import rounded_to

_CHUNK = 256
"""Products per partial sum: the bound grows with this and the number of parts, not with k."""
_UNIT = 2.0**-53
_DOUBLE = np.dtype(np.float64)
_BLOCK = 1 << 15
"""Elements that are judged at once, so that the work arrays stay in cache."""
_REPAIRED = 1 << 19
"""Products that are summed again at once."""
_PIECE = 1 << 21
"""Elements whose float64 sums are held at once: of a large result these are most of the memory."""


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b`` in the dtype of ``a``, with NumPy's rules for shapes.

    float16, bfloat16 and float32: each element is the exact sum of exact products, rounded
    once. float64: products and sums are rounded one after the other in the order of the
    inner axis. Integers wrap around, as everywhere.
    """
    if a.dtype.kind in "iub":
        return np.asarray(np.matmul(a, b))
    left = a[None, :] if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    result = product(left, right, a.dtype)
    if a.ndim == 1:
        result = result[..., 0, :]
    return result[..., 0] if b.ndim == 1 else result


def multiplier(a: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """``matmul`` by the same matrix ``a`` (m, k) from the left, again and again."""
    if not (a.dtype == np.float32 or is_narrow(a.dtype)):
        return lambda b: product(a, b, a.dtype)
    wide = a.astype(_DOUBLE)
    norms = np.sqrt(_squares(wide))

    def times(b: np.ndarray) -> np.ndarray:
        if b.shape[-2] != wide.shape[-1]:
            raise ValueError(f"shapes {a.shape} and {b.shape} have no common inner size")
        return _rounded(wide, b, a.dtype, norms)

    return times


def product(a: np.ndarray, b: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The product of (..., m, k) and (..., k, n), rounded to ``dtype``.

    Args:
        a, b: of the dtype ``dtype``, or float64 arrays that hold values of it; the dtype
            float64 itself takes the ordered sum.
        dtype: float16, bfloat16, float32 or float64.

    Raises:
        ValueError: for inner sizes or batch sizes that do not fit, as ``np.matmul``.
    """
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"shapes {a.shape} and {b.shape} have no common inner size")
    if dtype == np.float64:
        return _ordered(a, b)
    if not (dtype == np.float32 or is_narrow(dtype)):
        raise TypeError(f"there is no exact product of {dtype}")
    if b.ndim == 2 and a.ndim > 2:  # many matrices times one matrix are one product
        rows = a.reshape(math.prod(a.shape[:-1]), a.shape[-1])
        return _rounded(rows, b, dtype).reshape(*a.shape[:-1], b.shape[-1])
    return _rounded(a, b, dtype)


def _rounded(
    a: np.ndarray, b: np.ndarray, dtype: np.dtype, norms: np.ndarray | None = None
) -> np.ndarray:
    """``norms``: those of the rows of ``a``, where they are known."""
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1])
    if 0 in shape or not a.shape[-1]:
        return np.zeros(shape, dtype)
    if math.prod(shape) > _PIECE:
        return _in_pieces(a, b, np.empty(shape, dtype))
    with np.errstate(all="ignore"):
        sums, rows, columns = _sums(a, b, shape, norms)
        special = not (np.isfinite(rows).all() and np.isfinite(columns).all())
        left, right = a, b
        if special:  # first without what a NaN or an infinity reaches
            left = np.where(np.isfinite(rows)[..., None], a, a.dtype.type(0))
            right = np.where(np.isfinite(columns)[..., None, :], b, b.dtype.type(0))
            sums, rows, columns = _sums(left, right, shape)
        result = np.empty(shape, dtype)
        parts = min(_CHUNK, a.shape[-1]) + -(-a.shape[-1] // _CHUNK)
        # Three units more than the roundings: for the ends of the interval and for the norms.
        unsure = _judge(sums, rows * ((parts + 3) * _UNIT * 1.01), columns, result)
        if unsure is not None:
            _repair(left, right, unsure, result)
        if special:
            _write_special(a, b, result)
    return result


def _in_pieces(a: np.ndarray, b: np.ndarray, result: np.ndarray) -> np.ndarray:
    """Fill ``result`` matrix by matrix, or by rows or columns of a large one."""
    if result.ndim > 2:
        left = np.broadcast_to(a, (*result.shape[:-2], *a.shape[-2:]))
        right = np.broadcast_to(b, (*result.shape[:-2], *b.shape[-2:]))
        step = _PIECE // math.prod(result.shape[1:])
        for start in range(0, len(result), max(1, step)):
            some = slice(start, start + step) if step else start
            result[some] = _rounded(left[some], right[some], result.dtype)
        return result
    height, width = result.shape
    if height >= width:
        step = max(1, _PIECE // width)
        for start in range(0, height, step):
            some = slice(start, start + step)
            result[some] = _rounded(a[some], b, result.dtype)
    else:
        step = max(1, _PIECE // height)
        for start in range(0, width, step):
            columns = slice(start, start + step)
            result[:, columns] = _rounded(a, b[:, columns], result.dtype)
    return result


def _sums(
    a: np.ndarray, b: np.ndarray, shape: tuple[int, ...], norms: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums of products in some order, and the Euclidean norms of rows and columns.

    How norms are rounded decides what is looked at twice, never a result.
    """
    sums = scratch("sums", shape, _DOUBLE)
    rows, columns = np.zeros(a.shape[:-1]), np.zeros((*b.shape[:-2], b.shape[-1]))
    for start in range(0, a.shape[-1], _CHUNK):
        left = _double(a[..., start : start + _CHUNK], "left")
        right = _double(b[..., start : start + _CHUNK, :], "right")
        if norms is None:
            rows += _squares(left)
        columns += np.einsum("...kn,...kn->...n", right, right)
        if not start:
            np.matmul(left, right, out=sums)
            continue
        sums += np.matmul(left, right, out=scratch("part", shape, _DOUBLE))
    return sums, np.sqrt(rows) if norms is None else norms, np.sqrt(columns)


def _squares(rows: np.ndarray) -> np.ndarray:
    return np.einsum("...mk,...mk->...m", rows, rows)


def _double(x: np.ndarray, name: str) -> np.ndarray:
    """``x`` in float64, in work memory of the same order of axes where it has to be copied."""
    if x.dtype == _DOUBLE:
        return x
    turned = x.strides[-1] > x.strides[-2]
    source = x.swapaxes(-1, -2) if turned else x
    copy = scratch(name, source.shape, _DOUBLE)
    copy[...] = source
    return copy.swapaxes(-1, -2) if turned else copy


def _judge(
    sums: np.ndarray, rows: np.ndarray, columns: np.ndarray, result: np.ndarray
) -> np.ndarray | None:
    """Write what is decided to ``result``; flat positions of the rest, or None.

    The exact sum lies within ``rows * columns`` of ``sums`` (Cauchy and Schwarz).
    """
    lead, (height, width) = result.shape[:-2], result.shape[-2:]
    rows = np.broadcast_to(rows, (*lead, height)).reshape(-1, height, 1)
    columns = np.broadcast_to(columns, (*lead, width)).reshape(-1, 1, width)
    sums, flat = sums.reshape(-1, height, width), result.reshape(-1, height, width)
    # Some of the rows of one matrix at once, or several small matrices.
    tall = min(height, max(1, _BLOCK // width))
    many = max(1, _BLOCK // (height * width))
    shape = (min(many, len(flat)), tall, width)
    bound, end = scratch("bound", shape, _DOUBLE), scratch("end", shape, _DOUBLE)
    other = scratch("other", shape, result.dtype)
    found = []
    for batch in range(0, len(flat), many):
        part = slice(batch, batch + many)
        for start in range(0, height, tall):
            low = flat[part, start : start + tall]
            where = np.s_[: low.shape[0], : low.shape[1]]
            middle, high = sums[part, start : start + tall], other[where]
            error = np.multiply(rows[part, start : start + tall], columns[part], out=bound[where])
            _round(np.subtract(middle, error, out=end[where]), low)
            _round(np.add(middle, error, out=error), high)
            differ = low != high
            low += result.dtype.type(0)  # so that every zero is +0
            if differ.any():
                found.append(np.flatnonzero(differ) + (batch * height + start) * width)
    return np.concatenate(found) if found else None


def _round(x: np.ndarray, out: np.ndarray) -> None:
    # NumPy's own casts round once; that of ml_dtypes goes by way of float32.
    once = out.dtype in (np.float32, np.float16)
    out[...] = x if once else rounded_to(x, out.dtype)


def _repair(left: np.ndarray, right: np.ndarray, positions: np.ndarray, result: np.ndarray) -> None:
    """Sum the elements at flat ``positions`` again, so that they are decided."""
    lead = result.shape[:-2]
    inner = left.shape[-1]
    rows = np.broadcast_to(left, (*lead, *left.shape[-2:]))
    columns = np.broadcast_to(right, (*lead, *right.shape[-2:])).swapaxes(-1, -2)
    step = max(1, _REPAIRED // inner)
    for start in range(0, len(positions), step):
        some = positions[start : start + step]
        *batch, row, column = np.unravel_index(some, result.shape)
        products = rows[(*batch, row)].astype(_DOUBLE)
        products *= columns[(*batch, column)]
        result.reshape(-1)[some] = _careful(products, result.dtype)


def _careful(products: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Rows of exact products, each summed and rounded once: (u, k) to (u,)."""
    inner = products.shape[1]
    largest = np.max(np.abs(products), axis=1)
    exponent = np.frexp(largest)[1] + (inner - 1).bit_length() + 1
    # Parts that are multiples of one power of two, small enough to add exactly in any order.
    offset = np.ldexp(1.0, exponent)[:, None]
    high = (products + offset) - offset
    low = products - high
    whole, rest = np.sum(high, axis=1), np.sum(low, axis=1)
    error = np.sum(np.abs(low), axis=1) * ((inner + 2) * _UNIT)
    total = whole + rest
    back = total - whole
    lost = (whole - (total - back)) + (rest - back)
    below, above = np.nextafter(total, -np.inf), np.nextafter(total, np.inf)
    decided = (4.0 * error <= np.spacing(np.abs(total))) & (
        rounded_to(below, dtype) == rounded_to(above, dtype)
    )
    decided |= (lost == 0) & (error == 0)
    for index in np.flatnonzero(~decided):
        total[index] = _without_error(products[index].tolist())
    return rounded_to(total, dtype) + dtype.type(0)


def _without_error(products: list[float]) -> float:
    """The exact sum of ``products``, rounded to odd.

    Like that no inexact sum lies on a boundary of the narrower dtype, and which side of one
    it was on is still seen (Boldo and Melquiond, as in ``rounded_to``).
    """
    total = math.fsum(products)
    rest = math.fsum([*products, -total])
    if rest and not int(math.ldexp(math.frexp(total)[0], 53)) & 1:
        return math.nextafter(total, math.copysign(math.inf, rest))
    return total


def _write_special(left: np.ndarray, right: np.ndarray, result: np.ndarray) -> None:
    """Overwrite what a NaN or an infinity reaches, by IEEE 754's rules for a sum."""

    def meet(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.matmul(a.astype(np.float32), b.astype(np.float32)) > 0

    plus = meet(left == np.inf, right > 0) | meet(left == -np.inf, right < 0)
    plus |= meet(left > 0, right == np.inf) | meet(left < 0, right == -np.inf)
    minus = meet(left == np.inf, right < 0) | meet(left == -np.inf, right > 0)
    minus |= meet(left > 0, right == -np.inf) | meet(left < 0, right == np.inf)
    nan = meet(np.isinf(left), right == 0) | meet(left == 0, np.isinf(right))
    nan |= np.asarray(np.isnan(left).any(axis=-1))[..., None]
    nan |= np.asarray(np.isnan(right).any(axis=-2))[..., None, :]
    nan |= plus & minus
    result[plus] = np.inf
    result[minus] = -np.inf
    result[nan] = np.nan


def _ordered(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The float64 product, summed from the first inner element to the last."""
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left = np.broadcast_to(a, (*lead, *a.shape[-2:]))
    right = np.broadcast_to(b, (*lead, *b.shape[-2:]))
    result = np.zeros((*lead, a.shape[-2], b.shape[-1]))
    step = max(1, _BLOCK // max(1, math.prod(lead) * b.shape[-1]))
    with np.errstate(all="ignore"):
        for start in range(0, a.shape[-2], step):
            rows, target = left[..., start : start + step, :], result[..., start : start + step, :]
            term = np.empty(target.shape)
            for k in range(a.shape[-1]):
                np.multiply(rows[..., k, None], right[..., k, None, :], out=term)
                target += term
    return result
