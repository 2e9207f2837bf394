"""ONNX BitCast (since 26): the same bits as another type of equal width."""

import numpy as np

from onemodel.kernels._dtypes import STRING, numpy_dtype
from onemodel.kernels.exact.nan import canonical_nan

NODE_TYPE = "BitCast"


def fast(x: np.ndarray, *, to: int) -> np.ndarray:
    """``x`` read as the ONNX element type ``to``.

    Raises:
        TypeError: strings, or types of different width.
    """
    dtype = numpy_dtype(to)
    if STRING in (x.dtype, dtype):
        raise TypeError("BitCast: strings have no fixed bits")
    if x.dtype.itemsize != dtype.itemsize:
        raise TypeError(f"BitCast: {x.dtype} and {dtype} have different widths")
    return x.view(dtype)


def exact(x: np.ndarray, *, to: int) -> np.ndarray:
    """As ``fast``, of the one canonical NaN: its bits become visible here."""
    return fast(canonical_nan(x), to=to)


VERSIONS = {26: fast}
EXACT = {26: exact}
