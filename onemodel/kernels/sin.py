"""ONNX Sin (since 7, 22): element-wise sine."""

import numpy as np

NODE_TYPE = "Sin"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise sine."""
    return np.asarray(np.sin(x))


VERSIONS = {7: fast}
