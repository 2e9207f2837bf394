"""ONNX Upsample (since 1, 7, 9, 10 deprecated): the first name of Resize."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels.resize import resize_10

NODE_TYPE = "Upsample"


def fast(x: np.ndarray, scales: np.ndarray, *, mode: str = "nearest") -> np.ndarray:
    """``x`` enlarged by ``scales``, nearest or linear, with asymmetric coordinates."""
    return resize_10(x, scales, mode=mode)


def upsample_7(x: np.ndarray, *, mode: str = "nearest", scales: Sequence[float]) -> np.ndarray:
    """Opset 7: scales are an attribute."""
    return resize_10(x, np.asarray(scales, dtype=np.float32), mode=mode)


def upsample_1(
    x: np.ndarray, *, height_scale: float, width_scale: float, mode: str = "nearest"
) -> np.ndarray:
    """Opset 1: images (N, C, H, W) only."""
    return upsample_7(x, mode=mode, scales=(1.0, 1.0, height_scale, width_scale))


VERSIONS = {1: upsample_1, 7: upsample_7, 9: fast}
EXACT = VERSIONS
