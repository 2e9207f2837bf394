"""ONNX Unique (since 11, 28): different elements or slices, with where they occur."""

import numpy as np

NODE_TYPE = "Unique"

Outputs = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def fast(x: np.ndarray, *, axis: int | None = None, sorted: int = 1) -> Outputs:
    """(Y, first indices, inverse indices, counts), int64 but Y.

    ``sorted=0`` keeps the order of first occurrence.
    """
    y, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        y = np.take(y, order, axis=0 if axis is None else axis)
        first, counts, inverse = first[order], counts[order], rank[inverse]
    return y, first.astype(np.int64), inverse.astype(np.int64), counts.astype(np.int64)


VERSIONS = {11: fast}

# With indices asked for, NumPy sorts stably: of equal elements (0 and -0) the first is kept.
EXACT = VERSIONS
