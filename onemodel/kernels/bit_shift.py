"""ONNX BitShift (since 11, 28): element-wise shift of integers."""

import numpy as np

NODE_TYPE = "BitShift"


def fast(x: np.ndarray, y: np.ndarray, *, direction: str) -> np.ndarray:
    """Shift the bits of ``x`` by ``y`` places to the ``LEFT`` or ``RIGHT``."""
    if direction not in ("LEFT", "RIGHT"):
        raise ValueError(f"BitShift: direction={direction!r}; write 'LEFT' or 'RIGHT'")
    return np.asarray(np.left_shift(x, y) if direction == "LEFT" else np.right_shift(x, y))


VERSIONS = {11: fast}
EXACT = VERSIONS
