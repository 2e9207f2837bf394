"""Discrete Fourier transforms in ONNX's layout: the last axis holds real and imaginary part."""

from __future__ import annotations

import numpy as np

from onemodel.kernels._dtypes import widen


def to_complex(x: np.ndarray) -> np.ndarray:
    """(..., 1) or (..., 2) as a real or complex array (...)."""
    wide = widen(x)
    return wide[..., 0] if x.shape[-1] == 1 else wide[..., 0] + 1j * wide[..., 1]


def from_complex(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A complex array (...) as (..., 2)."""
    return np.stack((np.real(x), np.imag(x)), axis=-1).astype(dtype, copy=False)


def transform(
    x: np.ndarray, length: int | None, axis: int, inverse: bool, onesided: bool
) -> np.ndarray:
    """The DFT of ``x`` along ``axis``, padded or cut to ``length``.

    One-sided gives the first half of the spectrum of a real signal, or inverts it.
    """
    where = axis + x.ndim if axis < 0 else axis
    signal = to_complex(x)
    if inverse and onesided:
        size = length if length is not None else 2 * (x.shape[where] - 1)
        return np.fft.irfft(signal, n=size, axis=where)[..., None].astype(x.dtype, copy=False)
    size = length if length is not None else x.shape[where]
    if inverse:
        return from_complex(np.fft.ifft(signal, n=size, axis=where), x.dtype)
    if onesided and signal.dtype.kind != "c":
        return from_complex(np.fft.rfft(signal, n=size, axis=where), x.dtype)
    spectrum = np.fft.fft(signal, n=size, axis=where)
    if onesided:
        spectrum = spectrum[(slice(None),) * where + (slice(size // 2 + 1),)]
    return from_complex(spectrum, x.dtype)
