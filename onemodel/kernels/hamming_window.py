"""ONNX HammingWindow (since 17): the Hamming window."""

import numpy as np

from onemodel.kernels._signal_windows import cosine_window

NODE_TYPE = "HammingWindow"


def fast(size: np.ndarray, *, output_datatype: int = 1, periodic: int = 1) -> np.ndarray:
    """25/46 - 21/46 cos(2 pi n / N), N being ``size``, or one less if not periodic."""
    return cosine_window(size, periodic, output_datatype, (25 / 46, -21 / 46))


VERSIONS = {17: fast}
