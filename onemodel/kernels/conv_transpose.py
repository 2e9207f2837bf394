"""ONNX ConvTranspose (since 1, 11, 22): the transpose of Conv, with groups."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import window
from onemodel.kernels.exact import correlate as exact_correlate

NODE_TYPE = "ConvTranspose"


def _transposed(
    spread: Callable[..., np.ndarray],
    x: np.ndarray,
    w: np.ndarray,
    b: np.ndarray | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> np.ndarray:
    """(N, C, D1..Dn) and (C, M/group, k1..kn) to (N, M, ...), plus a bias per M.

    ``output_shape`` and ``auto_pad`` choose the padding; ``output_padding`` adds
    at the high end. float16 and bfloat16 accumulate in float32.
    """
    if x.shape[1] != w.shape[0] or x.shape[1] % group:
        raise ValueError(
            f"ConvTranspose: {x.shape[1]} input channels and weight {w.shape} "
            f"do not fit {group} group(s)"
        )
    rank = x.ndim - 2
    kernel = tuple(kernel_shape or w.shape[2:])
    stride = tuple(strides) if strides else (1,) * rank
    dilation = tuple(dilations) if dilations else (1,) * rank
    full = [
        (n - 1) * s + (k - 1) * d + 1
        for n, s, k, d in zip(x.shape[2:], stride, kernel, dilation, strict=True)
    ]
    extra = tuple(output_padding) if output_padding else (0,) * rank
    begins, sizes = _cut(x.shape[2:], full, stride, extra, output_shape, pads, auto_pad)
    whole = spread(widen(x), widen(w), group, kernel, stride, dilation, full)
    result = _crop(whole, begins, sizes)
    if b is not None:
        result += widen(b).reshape((-1,) + (1,) * rank)
    return result.astype(x.dtype, copy=False)


def _cut(
    size: Sequence[int],
    full: Sequence[int],
    stride: Sequence[int],
    extra: Sequence[int],
    output_shape: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
) -> tuple[list[int], list[int]]:
    """Where the result begins in the full sum, and its sizes."""
    begins, sizes = [], []
    rank = len(size)
    for i in range(rank):
        if output_shape or auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            wanted = output_shape[i - rank] if output_shape else size[i] * stride[i]
            total = full[i] + extra[i] - wanted
            # ONNX puts the odd element of padding at the end only for SAME_UPPER.
            begin = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            if total < 0:
                begin = 0
        else:
            begin = pads[i] if pads and auto_pad != "VALID" else 0
            end = pads[i + rank] if pads and auto_pad != "VALID" else 0
            wanted = full[i] + extra[i] - begin - end
        begins.append(begin)
        sizes.append(wanted)
    return begins, sizes


def _spread(
    x: np.ndarray,
    w: np.ndarray,
    group: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    full: Sequence[int],
) -> np.ndarray:
    """Every input element times its kernel, added up where they overlap."""
    batch, channels = x.shape[:2]
    per_group = w.shape[1]
    taps = math.prod(kernel)
    weights = w.reshape(group, channels // group, per_group * taps).swapaxes(1, 2)
    columns = np.matmul(weights, x.reshape(batch, group, channels // group, math.prod(x.shape[2:])))
    columns = columns.reshape(batch, group * per_group, *kernel, *x.shape[2:])
    result = np.zeros((batch, group * per_group, *full), x.dtype)
    for offset in np.ndindex(*kernel):
        where = tuple(
            slice(o * d, o * d + (n - 1) * s + 1, s)
            for o, d, n, s in zip(offset, dilation, x.shape[2:], stride, strict=True)
        )
        result[(Ellipsis, *where)] += columns[(slice(None), slice(None), *offset)]
    return result


def _gathered(
    x: np.ndarray,
    w: np.ndarray,
    group: int,
    kernel: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    full: Sequence[int],
) -> np.ndarray:
    """As :func:`_spread`, each output gathered from the inputs that reach it, rounded once.

    A correlation of the inputs, zeros in between, with the kernels turned round.
    """
    batch, channels = x.shape[:2]
    reach = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    sparse = np.zeros(
        (batch, channels, *(n + r for n, r in zip(full, reach, strict=True))), x.dtype
    )
    places = tuple(
        slice(r, r + (n - 1) * s + 1, s) for r, n, s in zip(reach, x.shape[2:], stride, strict=True)
    )
    sparse[(Ellipsis, *places)] = x
    grouped = w.reshape(group, channels // group, w.shape[1], *kernel).swapaxes(1, 2)
    turned = np.flip(grouped, axis=tuple(range(3, grouped.ndim)))
    weights = turned.reshape(group * w.shape[1], channels // group, *kernel)
    view = window(sparse.shape[2:], kernel, strides=None, dilations=dilation, pads=None)
    return exact_correlate.correlate(sparse, weights, group, view)


def _crop(full: np.ndarray, begins: Sequence[int], sizes: Sequence[int]) -> np.ndarray:
    """The asked-for part; zeros where it reaches beyond the sum."""
    spatial = full.shape[2:]
    if all(b >= 0 and b + n <= s for b, n, s in zip(begins, sizes, spatial, strict=True)):
        where = tuple(slice(b, b + n) for b, n in zip(begins, sizes, strict=True))
        return np.ascontiguousarray(full[(Ellipsis, *where)])
    result = np.zeros((*full.shape[:2], *sizes), full.dtype)
    source, target = [], []
    for begin, size, there in zip(begins, sizes, spatial, strict=True):
        first, last = max(begin, 0), min(begin + size, there)
        source.append(slice(first, last))
        target.append(slice(first - begin, last - begin))
    result[(Ellipsis, *target)] = full[(Ellipsis, *source)]
    return result


fast = partial(_transposed, _spread)
exact = partial(_transposed, _gathered)

VERSIONS = {1: fast}
EXACT = {1: exact}
