"""ONNX Transpose (since 1, 13, 21, 23, 24, 25): permuted axes, reversed by default."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "Transpose"


def fast(data: np.ndarray, *, perm: Sequence[int] | None = None) -> np.ndarray:
    """A view of ``data`` with its axes in the order ``perm``."""
    return data.transpose(perm) if perm is not None else data.transpose()


VERSIONS = {1: fast}
EXACT = VERSIONS
