"""ONNX RandomUniformLike (since 1, 22): evenly distributed numbers in an array's shape."""

import numpy as np

from onemodel.kernels._random import dtype_like, generator

NODE_TYPE = "RandomUniformLike"


def fast(
    x: np.ndarray,
    *,
    dtype: int | None = None,
    high: float = 1.0,
    low: float = 0.0,
    seed: float | None = None,
) -> np.ndarray:
    """An array shaped like ``x`` with numbers between ``low`` and ``high``."""
    numbers = generator(seed).uniform(low, high, x.shape)
    return np.asarray(numbers).astype(dtype_like(dtype, x))


VERSIONS = {1: fast}
