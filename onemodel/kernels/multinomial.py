"""ONNX Multinomial (since 7, 22): class numbers drawn by log-probabilities."""

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype, widen
from onemodel.kernels._random import generator

NODE_TYPE = "Multinomial"


def fast(
    x: np.ndarray, *, dtype: int = 6, sample_size: int = 1, seed: float | None = None
) -> np.ndarray:
    """Unnormalised log-probabilities (B, C) to class numbers (B, sample_size)."""
    wide = widen(x).astype(np.float64)
    weight = np.exp(wide - wide.max(axis=1, keepdims=True))
    ladder = np.cumsum(weight, axis=1)
    drawn = generator(seed).uniform(size=(x.shape[0], sample_size)) * ladder[:, -1:]
    result = [
        np.searchsorted(steps, row, side="right") for steps, row in zip(ladder, drawn, strict=True)
    ]
    return np.minimum(np.stack(result), x.shape[1] - 1).astype(numpy_dtype(dtype))


VERSIONS = {7: fast}
