"""ONNX RandomNormalLike (since 1, 22): normally distributed numbers in an array's shape."""

import numpy as np

from onemodel.kernels._random import dtype_like, generator

NODE_TYPE = "RandomNormalLike"


def fast(
    x: np.ndarray,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> np.ndarray:
    """An array shaped like ``x`` with the given mean and standard deviation."""
    numbers = generator(seed).normal(mean, scale, x.shape)
    return np.asarray(numbers).astype(dtype_like(dtype, x))


VERSIONS = {1: fast}
