"""ONNX SpaceToDepth (since 1, 13, 28): blocks of pixels gathered into channels."""

import numpy as np

NODE_TYPE = "SpaceToDepth"


def fast(x: np.ndarray, *, blocksize: int, mode: str = "DCR") -> np.ndarray:
    """(N, C, H, W) to (N, C b^2, H / b, W / b); ``CRD`` inverts PyTorch's pixel_shuffle.

    Raises:
        ValueError: an unknown mode, or sizes that do not divide by b.
    """
    batch, channels, height, width = x.shape
    b = blocksize
    if height % b or width % b:
        raise ValueError(f"SpaceToDepth: {height} x {width} pixels do not divide by {b}")
    if mode not in ("DCR", "CRD"):
        raise ValueError(f"SpaceToDepth: mode={mode!r}; write 'DCR' or 'CRD'")
    parts = x.reshape(batch, channels, height // b, b, width // b, b)
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    return parts.transpose(order).reshape(batch, channels * b * b, height // b, width // b)


def space_to_depth_1(x: np.ndarray, *, blocksize: int) -> np.ndarray:
    """Opsets 1 and 13: always depth-column-row."""
    return fast(x, blocksize=blocksize)


VERSIONS = {1: space_to_depth_1, 28: fast}
EXACT = VERSIONS
