"""ONNX Range (since 11, 27): numbers from start to limit in steps of delta."""

import numpy as np

from onemodel.kernels._dtypes import is_narrow, numpy_dtype

NODE_TYPE = "Range"


def fast(
    start: np.ndarray, limit: np.ndarray, delta: np.ndarray, *, stash_type: int = 1
) -> np.ndarray:
    """start + i * delta for i below ceil((limit - start) / delta), in the dtype of ``start``.

    ``stash_type`` is the type in which float16 and bfloat16 are computed.
    """
    dtype = start.dtype
    wide = numpy_dtype(stash_type) if is_narrow(dtype) else dtype
    first, last, step = (
        np.asarray(scalar).reshape(()).astype(wide) for scalar in (start, limit, delta)
    )
    if dtype.kind in "iu":
        return np.arange(int(first), int(last), int(step), dtype=dtype)
    count = max(int(np.ceil((last - first) / step)), 0)
    return (first + np.arange(count).astype(wide) * step).astype(dtype)


def range_11(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """Opset 11: no narrow floats."""
    return fast(start, limit, delta)


VERSIONS = {11: range_11, 27: fast}

# One product and one sum per element, no running sum.
EXACT = VERSIONS
