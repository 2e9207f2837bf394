"""ONNX RandomNormal (since 1, 22): normally distributed numbers."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype
from onemodel.kernels._random import generator

NODE_TYPE = "RandomNormal"


def fast(
    *,
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
    shape: Sequence[int],
) -> np.ndarray:
    """An array of ``shape`` with the given mean and standard deviation."""
    numbers = generator(seed).normal(mean, scale, tuple(shape))
    return np.asarray(numbers).astype(numpy_dtype(dtype))


VERSIONS = {1: fast}
