"""ONNX Where (since 9, 16): x where the condition holds, else y, with broadcasting."""

import numpy as np

from onemodel.kernels._select import select

NODE_TYPE = "Where"


def fast(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """X where the condition holds, else y, with broadcasting."""
    return select(condition, x, y)


VERSIONS = {9: fast}
EXACT = VERSIONS
