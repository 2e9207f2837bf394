"""ONNX STFT (since 17): Fourier transforms of overlapping frames of a signal."""

import numpy as np

from onemodel.kernels._dft import transform

NODE_TYPE = "STFT"


def fast(
    signal: np.ndarray,
    frame_step: np.ndarray,
    window: np.ndarray | None = None,
    frame_length: np.ndarray | None = None,
    *,
    onesided: int = 1,
) -> np.ndarray:
    """signal (B, L, 1 or 2) to (B, frames, bins, 2), each frame times ``window``.

    Complex signals always give all bins.
    """
    step = int(frame_step.item())
    if frame_length is not None:
        length = int(frame_length.item())
    else:
        length = signal.shape[1] if window is None else window.shape[0]
    starts = np.arange((signal.shape[1] - length) // step + 1) * step
    frames = signal[:, starts[:, None] + np.arange(length)]
    if window is not None:
        frames = frames * window.astype(signal.dtype, copy=False)[:, None]
    half = bool(onesided) and signal.shape[-1] == 1
    return transform(np.asarray(frames), None, 2, False, half)


VERSIONS = {17: fast}
