"""ONNX LpPool (since 1, 2, 11, 18, 22): Lp norm over sliding windows."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import padded, window
from onemodel.kernels.average_pool import window_sums

NODE_TYPE = "LpPool"


def fast(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int],
    p: float = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """(sum of |x| ** p) ** (1 / p) of every window over (N, C, D1..Dn)."""
    view = window(
        x.shape[2:],
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    return norm_root(window_sums(padded(powers(widen(x), p), view), view), p).astype(
        x.dtype, copy=False
    )


def powers(x: np.ndarray, p: float) -> np.ndarray:
    """|x| ** p."""
    if p == 2:
        return np.square(x)
    return np.abs(x) if p == 1 else np.power(np.abs(x), x.dtype.type(p))


def norm_root(total: np.ndarray, p: float) -> np.ndarray:
    """total ** (1 / p)."""
    if p == 2:
        return np.asarray(np.sqrt(total))
    return total if p == 1 else np.asarray(np.power(total, total.dtype.type(1 / p)))


def lp_pool_2(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int] | None = None,
    p: float = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Opsets 1, 2 and 11: neither dilations nor ceil_mode; p was a float first."""
    return fast(
        x,
        auto_pad=auto_pad,
        kernel_shape=kernel_shape or x.shape[2:],
        p=p,
        pads=pads,
        strides=strides,
    )


VERSIONS = {1: lp_pool_2, 18: fast}
