"""ONNX HannWindow (since 17): the Hann window."""

import numpy as np

from onemodel.kernels._signal_windows import cosine_window

NODE_TYPE = "HannWindow"


def fast(size: np.ndarray, *, output_datatype: int = 1, periodic: int = 1) -> np.ndarray:
    """0.5 - 0.5 cos(2 pi n / N), N being ``size``, or one less if not periodic."""
    return cosine_window(size, periodic, output_datatype, (0.5, -0.5))


VERSIONS = {17: fast}
