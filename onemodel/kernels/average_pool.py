"""ONNX AveragePool (since 1, 7, 10, 11, 19, 22): mean over sliding windows."""

from collections.abc import Sequence

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import Window, padded, window

NODE_TYPE = "AveragePool"


def fast(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[int] | None = None,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Mean of every window over (N, C, D1..Dn).

    Padding counts only with ``count_include_pad``; what ``ceil_mode`` reaches
    beyond the padding never does.
    """
    view = window(
        x.shape[2:],
        kernel_shape,
        strides=strides,
        dilations=dilations,
        pads=pads,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
    )
    total = window_sums(padded(widen(x), view, work=True), view)
    total /= element_counts(view, bool(count_include_pad)).astype(total.dtype)
    return total.astype(x.dtype, copy=False)


def window_sums(x: np.ndarray, view: Window) -> np.ndarray:
    """Sums over windows of a padded array, one axis after the other; a fresh array."""
    result = x
    for spatial in range(len(view.kernel)):
        lead = (slice(None),) * (x.ndim - len(view.kernel) + spatial)
        stride, count = view.strides[spatial], view.output[spatial]
        total = None
        for offset in range(view.kernel[spatial]):
            start = offset * view.dilations[spatial]
            part = result[(*lead, slice(start, start + (count - 1) * stride + 1, stride))]
            if total is None:
                total = part.copy()
            else:
                total += part
        assert total is not None
        result = total
    return result


def element_counts(view: Window, include_padding: bool) -> np.ndarray:
    """How many elements each window divides by, over the output's spatial axes."""
    result = np.ones((), np.int64)
    for i, count in enumerate(view.output):
        position = (
            np.arange(count)[:, None] * view.strides[i]
            + np.arange(view.kernel[i])[None, :] * view.dilations[i]
            - view.begins[i]
        )
        if include_padding:
            inside = position < view.size[i] + view.ends[i]
        else:
            inside = (position >= 0) & (position < view.size[i])
        result = result[..., None] * inside.sum(axis=1)
    return result


def average_pool_10(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Opsets 10 and 11: no dilations."""
    return fast(
        x,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )


def average_pool_7(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    count_include_pad: int = 0,
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 7: no ceil_mode either."""
    return average_pool_10(
        x,
        auto_pad=auto_pad,
        count_include_pad=count_include_pad,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )


def average_pool_1(
    x: np.ndarray,
    *,
    auto_pad: str = "NOTSET",
    kernel_shape: Sequence[int],
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """Opset 1: padding never counts."""
    return average_pool_7(
        x, auto_pad=auto_pad, kernel_shape=kernel_shape, pads=pads, strides=strides
    )


VERSIONS = {1: average_pool_1, 7: average_pool_7, 10: average_pool_10, 19: fast}
# Windows are added element by element, in the order of the kernel.
EXACT = VERSIONS
