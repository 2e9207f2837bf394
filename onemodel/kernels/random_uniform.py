"""ONNX RandomUniform (since 1, 22): evenly distributed numbers."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype
from onemodel.kernels._random import generator

NODE_TYPE = "RandomUniform"


def fast(
    *,
    dtype: int = 1,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
    shape: Sequence[int],
) -> np.ndarray:
    """An array of ``shape`` with numbers between ``low`` and ``high``."""
    numbers = generator(seed).uniform(low, high, tuple(shape))
    return np.asarray(numbers).astype(numpy_dtype(dtype))


VERSIONS = {1: fast}
