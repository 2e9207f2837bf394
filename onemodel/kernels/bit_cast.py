"""ONNX BitCast (since 26): the same bits as another type of equal width."""

import numpy as np

from onemodel.kernels._dtypes import STRING, numpy_dtype

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


VERSIONS = {26: fast}
