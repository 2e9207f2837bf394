"""ONNX Where (since 9, 16): x where the condition holds, else y, with broadcasting."""

import numpy as np

NODE_TYPE = "Where"


def fast(condition: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """X where the condition holds, else y, with broadcasting."""
    return np.asarray(np.where(condition, x, y))


VERSIONS = {9: fast}
