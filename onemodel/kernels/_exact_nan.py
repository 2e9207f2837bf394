"""One NaN: the bits of a NaN made by arithmetic differ between processors."""

from __future__ import annotations

import numpy as np

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
