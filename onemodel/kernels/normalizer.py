"""ONNX Normalizer (ai.onnx.ml, since 1): rows divided by their norm."""

import numpy as np

NODE_TYPE = "Normalizer"
DOMAIN = "ai.onnx.ml"


def fast(x: np.ndarray, *, norm: str = "MAX") -> np.ndarray:
    """Each row of float32 ``x`` divided by its greatest element, L1 or L2 norm; zeros stay.

    Raises:
        ValueError: for another norm.
    """
    x = x.astype(np.float32, copy=False)
    match norm:
        case "MAX":
            size = x.max(axis=-1, keepdims=True, initial=-np.inf)
        case "L1":
            size = np.abs(x).sum(axis=-1, keepdims=True)
        case "L2":
            size = np.sqrt((x * x).sum(axis=-1, keepdims=True))
        case _:
            raise ValueError(f"norm={norm!r}; write MAX, L1 or L2")
    return x / np.where(size == 0, np.float32(1), size)


VERSIONS = {1: fast}
