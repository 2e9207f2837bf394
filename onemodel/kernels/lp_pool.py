"""ONNX LpPool (since 1, 2, 11, 18, 22): Lp norm over sliding windows."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import padded, window
from onemodel.kernels.average_pool import window_sums
from onemodel.kernels.exact import functions as exact_functions

NODE_TYPE = "LpPool"

Power = Callable[..., np.ndarray]


def _pooled(
    power: Power,
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
    total = window_sums(padded(powers(widen(x), p, power), view), view)
    return norm_root(total, p, power).astype(x.dtype, copy=False)


def powers(x: np.ndarray, p: float, power: Power = np.power) -> np.ndarray:
    """|x| ** p."""
    if p == 2:
        return np.square(x)
    return np.abs(x) if p == 1 else power(np.abs(x), x.dtype.type(p))


def norm_root(total: np.ndarray, p: float, power: Power = np.power) -> np.ndarray:
    """total ** (1 / p)."""
    if p == 2:
        return np.asarray(np.sqrt(total))
    return total if p == 1 else np.asarray(power(total, total.dtype.type(1 / p)))


fast = partial(_pooled, np.power)
exact = partial(_pooled, exact_functions.pow)


def _pooled_2(
    pool: Callable[..., np.ndarray],
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int] | None = None,
    p: float = 2,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Opsets 1, 2 and 11: neither dilations nor ceil_mode; p was a float first."""
    return pool(
        x,
        auto_pad=auto_pad,
        kernel_shape=kernel_shape or x.shape[2:],
        p=p,
        pads=pads,
        strides=strides,
    )


VERSIONS = {1: partial(_pooled_2, fast), 18: fast}
EXACT = {1: partial(_pooled_2, exact), 18: exact}
