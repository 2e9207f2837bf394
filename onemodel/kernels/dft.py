"""ONNX DFT (since 17, 20): discrete Fourier transform along an axis."""

import numpy as np

from onemodel.kernels._dft import transform

NODE_TYPE = "DFT"


def fast(
    x: np.ndarray,
    dft_length: np.ndarray | None = None,
    axis: np.ndarray | None = None,
    *,
    inverse: int = 0,
    onesided: int = 0,
) -> np.ndarray:
    """The transform of a real (..., 1) or complex (..., 2) signal, as (..., 2).

    ``axis`` is by default the last one before the parts. One-sided keeps the first
    half of a real signal's spectrum, or inverts such a half to (..., 1).
    """
    where = -2 if axis is None else int(axis.item())
    length = None if dft_length is None else int(dft_length.item())
    return transform(x, length, where, bool(inverse), bool(onesided))


def dft_17(
    x: np.ndarray,
    dft_length: np.ndarray | None = None,
    *,
    axis: int = 1,
    inverse: int = 0,
    onesided: int = 0,
) -> np.ndarray:
    """Opset 17: the axis is an attribute."""
    return fast(x, dft_length, np.asarray(axis), inverse=inverse, onesided=onesided)


VERSIONS = {17: dft_17, 20: fast}
