"""ONNX Scaler (ai.onnx.ml, since 1): (x - offset) * scale, per feature or for all."""

from collections.abc import Sequence

import numpy as np

NODE_TYPE = "Scaler"
DOMAIN = "ai.onnx.ml"


def fast(
    x: np.ndarray,
    *,
    offset: Sequence[float] | None = None,
    scale: Sequence[float] | None = None,
) -> np.ndarray:
    """float32 of any numeric ``x``, features last."""
    moved = x.astype(np.float32) - np.asarray(offset or [0.0], np.float32)
    return np.asarray(moved * np.asarray(scale or [1.0], np.float32))


VERSIONS = {1: fast}
EXACT = VERSIONS
