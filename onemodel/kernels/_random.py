"""Seeded generators for the random nodes."""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype


def generator(seed: float | None) -> np.random.RandomState:
    """The legacy Mersenne Twister, whose streams NumPy keeps frozen; None seeds from the system."""
    if seed is None or np.isnan(seed):
        return np.random.RandomState()
    return np.random.RandomState(int(seed) % (1 << 32))


def dtype_like(dtype: int | None, like: np.ndarray) -> np.dtype:
    """The dtype of an ONNX number, or that of the array."""
    return like.dtype if dtype is None else numpy_dtype(dtype)
