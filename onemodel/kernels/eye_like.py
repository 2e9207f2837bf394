"""ONNX EyeLike (since 9, 22): ones on a diagonal, in the shape of an array."""

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype

NODE_TYPE = "EyeLike"


def fast(x: np.ndarray, *, dtype: int | None = None, k: int = 0) -> np.ndarray:
    """Ones on diagonal ``k`` in the 2-D shape of ``x``; ``dtype`` is an ONNX number."""
    kind = x.dtype if dtype is None else numpy_dtype(dtype)
    return np.eye(*x.shape, k=k).astype(kind)


VERSIONS = {9: fast}
EXACT = VERSIONS
