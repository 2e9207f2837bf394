"""ONNX SplitToSequence (since 11, 24): an array cut into a sequence along an axis."""

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "SplitToSequence"


def fast(
    x: np.ndarray, split: np.ndarray | None = None, *, axis: int = 0, keepdims: int = 1
) -> list[np.ndarray]:
    """Pieces of the sizes ``split``, of one size (a scalar; the last is smaller), or of size 1.

    ``keepdims=0`` drops the axis, where ``split`` is absent.
    """
    size = x.shape[axis]
    if split is None:
        pieces = np.split(x, size, axis=axis) if size else []
        return pieces if keepdims else [np.squeeze(piece, axis=axis) for piece in pieces]
    if split.ndim == 0:
        ends = list(range(int(split), size, int(split)))
    else:
        ends = np.cumsum(integers(split))[:-1].tolist()
    return np.split(x, ends, axis=axis)


VERSIONS = {11: fast}
EXACT = VERSIONS
