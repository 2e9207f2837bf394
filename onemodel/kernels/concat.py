"""ONNX Concat (since 1, 4, 11, 13): arrays joined along an axis."""

import numpy as np

NODE_TYPE = "Concat"


def fast(*inputs: np.ndarray, axis: int) -> np.ndarray:
    """``inputs`` joined along the existing ``axis``."""
    return np.concatenate(inputs, axis=axis)


def concat_1(*inputs: np.ndarray, axis: int = 1) -> np.ndarray:
    """Opset 1: the axis has a default."""
    return np.concatenate(inputs, axis=axis)


VERSIONS = {1: concat_1, 4: fast}
EXACT = VERSIONS
