"""What processors decide differently: the bits of a NaN and the sign of a zero."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from onemodel.kernels._dtypes import is_float

Kernel = Callable[..., Any]

_HAS_NAN = "fcV"
"""Kinds of dtypes that can hold a NaN; ml_dtypes registers its types as ``V``, as ``f`` or both."""


def canonical_nan(x: np.ndarray) -> np.ndarray:
    """``x`` with each NaN replaced by the positive quiet NaN without payload.

    Any shape and dtype. 0x7e00, 0x7fc00000 and 0x7ff8000000000000 in the IEEE types, what
    ml_dtypes makes of that in its own; a complex number with a NaN part has both parts NaN.
    Returns ``x`` itself where there is none, and never writes to it.
    """
    if x.dtype.kind not in _HAS_NAN or x.dtype.names is not None:
        return x
    missing = np.asarray(x != x)
    if not missing.any():
        return x
    value = complex(np.nan, np.nan) if x.dtype.kind == "c" else np.nan
    result = x.copy()
    result[missing] = np.asarray(value).astype(x.dtype)
    return result


def positive_zero(x: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """``x`` with +0 for every zero, which is what adding 0 does; integers untouched.

    The larger or smaller of +0 and -0 is either, by IEEE 754, and processors differ.
    """
    return np.add(x, x.dtype.type(0), out=out) if is_float(x.dtype) else x


def with_positive_zero(kernel: Kernel) -> Kernel:
    """``kernel`` with +0 for every zero of its result, or of the first of its results."""

    @functools.wraps(kernel)
    def exact(*arrays: np.ndarray, **attributes: Any) -> Any:
        result = kernel(*arrays, **attributes)
        if isinstance(result, tuple):
            return (np.asarray(positive_zero(result[0])), *result[1:])
        return np.asarray(positive_zero(result))

    return exact
