"""ONNX BlackmanWindow (since 17): the Blackman window."""

import numpy as np

from onemodel.kernels._signal_windows import cosine_window

NODE_TYPE = "BlackmanWindow"


def fast(size: np.ndarray, *, output_datatype: int = 1, periodic: int = 1) -> np.ndarray:
    """0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N), N as for HannWindow."""
    return cosine_window(size, periodic, output_datatype, (0.42, -0.5, 0.08))


VERSIONS = {17: fast}
