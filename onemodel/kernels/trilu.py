"""ONNX Trilu (since 14): the upper or lower triangle of matrices."""

import numpy as np

from onemodel.kernels._select import select

NODE_TYPE = "Trilu"


def fast(data: np.ndarray, k: np.ndarray | None = None, *, upper: int = 1) -> np.ndarray:
    """The triangle on and above (below) diagonal ``k`` of the last two axes, zero elsewhere."""
    diagonal = 0 if k is None else int(k.item())
    rows, columns = data.shape[-2:]
    # An int64 diagonal may lie far outside; NumPy's helpers want a small one.
    diagonal = max(-rows - columns, min(rows + columns, diagonal))
    offset = np.arange(columns) - np.arange(rows)[:, None]
    keep = offset >= diagonal if upper else offset <= diagonal
    return select(keep, data, data.dtype.type(0))


VERSIONS = {14: fast}
EXACT = VERSIONS
