"""The shared end of the classification losses: pick, weigh, ignore, reduce."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def negative_log_likelihood(
    log_probability: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    ignore_index: int | None,
    reduction: str,
    add: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """-log_probability[n, target[n, ...], ...], weighted per class and reduced.

    Ignored positions count neither in the sum nor in the mean's divisor.

    Raises:
        ValueError: an unknown reduction.
    """
    ignored = np.zeros(target.shape, bool) if ignore_index is None else target == ignore_index
    classes = np.where(ignored, 0, target).astype(np.int64)
    picked = np.take_along_axis(log_probability, np.expand_dims(classes, 1), axis=1)
    loss = -np.squeeze(picked, axis=1)
    factor = np.where(ignored, 0, 1).astype(log_probability.dtype)
    if weight is not None:
        factor = factor * weight[classes].astype(log_probability.dtype)
    loss = np.where(ignored, 0, loss) * factor
    if reduction == "none":
        return np.asarray(loss)
    if reduction == "sum":
        return np.asarray(add(loss))
    if reduction == "mean":
        return np.asarray(add(loss) / add(factor))
    raise ValueError(f"reduction={reduction!r}; write 'none', 'mean' or 'sum'")
