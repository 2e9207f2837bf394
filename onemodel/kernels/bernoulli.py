"""ONNX Bernoulli (since 15, 22): ones with the probabilities given."""

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._random import dtype_like, generator

NODE_TYPE = "Bernoulli"


def fast(x: np.ndarray, *, dtype: int | None = None, seed: float | None = None) -> np.ndarray:
    """1 with probability ``x``, else 0."""
    drawn = generator(seed).uniform(size=x.shape) < widen(x)
    return np.asarray(drawn).astype(dtype_like(dtype, x))


VERSIONS = {15: fast}
