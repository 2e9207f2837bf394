"""ONNX TensorScatter (since 24): new entries written into a cache."""

import numpy as np

from onemodel.kernels._shapes import normalized

NODE_TYPE = "TensorScatter"


def fast(
    past_cache: np.ndarray,
    update: np.ndarray,
    write_indices: np.ndarray | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> np.ndarray:
    """A copy of ``past_cache`` with ``update`` from ``write_indices[b]`` on, along ``axis``.

    ``circular`` starts over at the end of the cache.

    Raises:
        ValueError: an unknown mode, or an update that does not fit.
    """
    if mode not in ("linear", "circular"):
        raise ValueError(f"TensorScatter: mode={mode!r}; write 'linear' or 'circular'")
    where = normalized(axis, past_cache.ndim)
    room, length = past_cache.shape[where], update.shape[where]
    starts = np.zeros(past_cache.shape[0], np.int64) if write_indices is None else write_indices
    places = starts.reshape(-1, 1) + np.arange(length)
    if mode == "circular":
        places = places % room
    elif places.size and (places.max() >= room or places.min() < 0):
        raise ValueError(f"TensorScatter: {length} new entries do not fit a cache of {room}")
    result = past_cache.copy()
    target, source = np.moveaxis(result, where, 1), np.moveaxis(update, where, 1)
    target[np.arange(result.shape[0])[:, None], places] = source
    return result


VERSIONS = {24: fast}
EXACT = VERSIONS
