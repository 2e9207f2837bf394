"""ONNX Binarizer (ai.onnx.ml, since 1): one above a threshold, else zero."""

import numpy as np

NODE_TYPE = "Binarizer"
DOMAIN = "ai.onnx.ml"


def fast(x: np.ndarray, *, threshold: float = 0.0) -> np.ndarray:
    """1 where ``x`` is greater than ``threshold``, in the dtype of ``x``."""
    return np.asarray(x > threshold).astype(x.dtype)


VERSIONS = {1: fast}
EXACT = VERSIONS
