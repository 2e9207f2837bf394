"""ONNX DepthToSpace (since 1, 11, 13, 28): channels spread over blocks of pixels."""

import numpy as np

NODE_TYPE = "DepthToSpace"


def fast(x: np.ndarray, *, blocksize: int, mode: str = "DCR") -> np.ndarray:
    """(N, C, H, W) to (N, C / b^2, H b, W b); in ``CRD`` mode as PyTorch's pixel_shuffle.

    Raises:
        ValueError: an unknown mode, or channels that do not divide by b^2.
    """
    batch, channels, height, width = x.shape
    b = blocksize
    if channels % (b * b):
        raise ValueError(f"DepthToSpace: {channels} channels do not divide by {b * b}")
    if mode == "DCR":
        parts = x.reshape(batch, b, b, channels // (b * b), height, width)
        parts = parts.transpose(0, 3, 4, 1, 5, 2)
    elif mode == "CRD":
        parts = x.reshape(batch, channels // (b * b), b, b, height, width)
        parts = parts.transpose(0, 1, 4, 2, 5, 3)
    else:
        raise ValueError(f"DepthToSpace: mode={mode!r}; write 'DCR' or 'CRD'")
    return parts.reshape(batch, channels // (b * b), height * b, width * b)


def depth_to_space_1(x: np.ndarray, *, blocksize: int) -> np.ndarray:
    """Opset 1: always depth-column-row."""
    return fast(x, blocksize=blocksize)


VERSIONS = {1: depth_to_space_1, 11: fast}
EXACT = VERSIONS
