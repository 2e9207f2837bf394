"""Cosine windows of signal processing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import numpy_dtype


def cosine_window(
    size: np.ndarray, periodic: int, output_datatype: int, coefficients: Sequence[float]
) -> np.ndarray:
    """Sum of c[k] cos(2 pi k n / N), N being the size, or one less if not periodic."""
    count = int(size.item())
    turns = 2 * np.pi * np.arange(count) / max(count if periodic else count - 1, 1)
    total = sum(c * np.cos(k * turns) for k, c in enumerate(coefficients))
    return np.asarray(total, dtype=np.float64).astype(numpy_dtype(output_datatype))
