"""ONNX Conv (since 1, 11, 22): N-dimensional cross-correlation with groups."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels import _correlate
from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import Window, window
from onemodel.kernels.exact import correlate as exact_correlate

NODE_TYPE = "Conv"

Correlate = Callable[[np.ndarray, np.ndarray, int, Window], np.ndarray]


def _conv(
    correlate: Correlate,
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Cross-correlate (N, C, D1..Dn) with (M, C/group, k1..kn), plus a bias per M.

    float16 and bfloat16 accumulate in float32.

    Raises:
        ValueError: channels that do not match the groups, or a window that does not fit.
    """
    if x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        raise ValueError(
            f"Conv: {x.shape[1]} input channels and weight {w.shape} do not fit {group} group(s)"
        )
    view = window(
        x.shape[2:],
        kernel_shape or w.shape[2:],
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
    )
    result = correlate(widen(x), widen(w), group, view)
    if b is not None:
        result += widen(b).reshape((-1,) + (1,) * (x.ndim - 2))
    return result.astype(x.dtype, copy=False)


fast = partial(_conv, _correlate.correlate)
exact = partial(_conv, exact_correlate.correlate)

VERSIONS = {1: fast}
EXACT = {1: exact}
