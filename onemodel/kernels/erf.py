"""ONNX Erf (since 9, 13): element-wise error function."""

import numpy as np

from onemodel.kernels._special import erf

NODE_TYPE = "Erf"


def fast(x: np.ndarray) -> np.ndarray:
    """Element-wise error function."""
    return erf(x)


VERSIONS = {9: fast}
