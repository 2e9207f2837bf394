"""ONNX Reshape (since 1, 5, 13, 14, 19, 21, 23, 24, 25): the same elements in a new shape."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._shapes import integers

NODE_TYPE = "Reshape"


def fast(data: np.ndarray, shape: np.ndarray, *, allowzero: int = 0) -> np.ndarray:
    """``data`` in ``shape``; -1 is inferred, 0 copies the input's size unless ``allowzero``."""
    sizes = integers(shape)
    if not allowzero:
        sizes = [data.shape[i] if size == 0 else size for i, size in enumerate(sizes)]
    if -1 in sizes and 0 in sizes:  # NumPy cannot infer beside an empty axis
        known = int(np.prod([size for size in sizes if size != -1]))
        sizes[sizes.index(-1)] = data.size // known if known else 0
    return data.reshape(sizes)


def reshape_5(data: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Opsets 5 and 13: 0 always copies."""
    return fast(data, shape)


def reshape_1(
    data: np.ndarray,
    *,
    shape: Sequence[int] = (),
    consumed_inputs: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: the shape is an attribute."""
    return fast(data, np.asarray(shape, dtype=np.int64))


VERSIONS = {1: reshape_1, 5: reshape_5, 14: fast}
EXACT = VERSIONS
