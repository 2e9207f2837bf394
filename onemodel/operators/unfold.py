"""Sliding patches of images as columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.axes.windows import window
from onemodel.operators._case import Case
from onemodel.operators._operator import Composite, Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.add import add
from onemodel.operators.arange import arange
from onemodel.operators.index import look_up
from onemodel.operators.transpose import movedim
from onemodel.operators.unsqueeze import unsqueeze
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def unfold(
    input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """[N, C, H, W] -> [N, C*kh*kw, L]: each of the L positions of a window as one column.

    The settings are integers or pairs; padding is zeros. Raises ValueError for another number
    of axes or a window larger than the image. Source: ``torch.nn.functional.unfold``; ONNX
    Gather-1, Transpose-1, Reshape-5.
    """
    input = as_tensor("unfold", "input", input)
    if input.ndim != 4:
        raise ValueError(f"unfold: expected [N, C, H, W], not {input.ndim} axes")
    return apply(OPERATOR, (input,), settings("unfold", kernel_size, dilation, padding, stride))


def settings(
    operator: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any
) -> dict[str, tuple[int, int]]:
    """The settings of a window, each as (height, width)."""
    pairs = {
        "kernel_size": _pair(operator, "kernel_size", kernel_size, 1),
        "dilation": _pair(operator, "dilation", dilation, 1),
        "padding": _pair(operator, "padding", padding, 0),
        "stride": _pair(operator, "stride", stride, 1),
    }
    return pairs


def _pair(operator: str, name: str, value: Any, least: int) -> tuple[int, int]:
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2 or any(not isinstance(n, int) or n < least for n in pair):
        raise ValueError(f"{operator}: {name} must be one or two integers of {least} or more")
    return pair[0], pair[1]


Pair = tuple[int, int]

_SETTINGS = ("kernel_size", "dilation", "padding", "stride")


def positions(size: int, kernel: int, dilation: int, padding: int, stride: int) -> np.ndarray:
    """[kernel, windows]: where each entry of each window lies in the padded axis.

    Raises ValueError where no window fits.
    """
    count = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    if count < 1:
        raise ValueError(
            f"a window of {dilation * (kernel - 1) + 1} does not fit an axis of {size} with "
            f"padding {padding}"
        )
    return np.arange(kernel)[:, None] * dilation + np.arange(count) * stride


def padded(input: np.ndarray, padding: Pair) -> np.ndarray:
    height, width = padding
    return np.pad(input, ((0, 0), (0, 0), (height, height), (width, width)))


def grids(
    size: tuple[int, int], kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> tuple[np.ndarray, np.ndarray]:
    """Rows [kh, 1, oh, 1] and columns [kw, 1, ow] of all windows, to be broadcast."""
    parts = zip(size, kernel_size, dilation, padding, stride, strict=True)
    rows, columns = (positions(*part) for part in parts)
    return rows[:, None, :, None], columns[:, None, :]


def forward(
    input: np.ndarray, *, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> np.ndarray:
    rows, columns = grids(input.shape[2:], kernel_size, dilation, padding, stride)
    patches = padded(input, padding)[:, :, rows, columns]
    batch, channels = input.shape[:2]
    places = patches.shape[4] * patches.shape[5]
    return patches.reshape(batch, channels * kernel_size[0] * kernel_size[1], places)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    batch, channels, *size = record.shapes[0]
    return add_patches(grad, (batch, channels, size[0], size[1]), record.attributes)


def add_patches(columns: np.ndarray, shape: tuple[int, int, int, int], options: Any) -> np.ndarray:
    """Columns put back where they came from, overlaps added; ``shape`` without the padding."""
    batch, channels, height, width = shape
    top, left = options["padding"]
    setting = {name: options[name] for name in _SETTINGS}
    rows, across = np.broadcast_arrays(*grids((height, width), **setting))
    result = np.zeros((batch, channels, height + 2 * top, width + 2 * left), columns.dtype)
    values = columns.reshape(batch, channels, *rows.shape)
    place: Any = (slice(None), slice(None), rows, across)
    np.add.at(result, place, values)
    return result[:, :, top : top + height, left : left + width]


def window_counts(
    size: tuple[Extent, Extent], kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> list[Extent]:
    """How many windows fit along height and width."""
    return [
        window(size[i], kernel_size[i], stride[i], padding[i], padding[i], dilation[i])
        for i in range(2)
    ]


def axes(input: Axes, *, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Axes:
    batch, channels, height, width = input
    down, across = window_counts((height, width), kernel_size, dilation, padding, stride)
    return (batch, channels * kernel_size[0] * kernel_size[1], down * across)


def opset_7(
    g: Any, input: Any, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> Any:
    top, left = padding
    data = input
    if top or left:
        data = helpers.pad(g, input, [0, 0, top, left, 0, 0, top, left])
    height, width = (as_extent(size) for size in input.shape[2:])
    counts = window_counts((height, width), kernel_size, dilation, padding, stride)
    for place, axis in ((0, 2), (1, 4)):
        where = _write_positions(
            g, counts[place], kernel_size[place], dilation[place], stride[place]
        )
        data = g.op("Gather", data, where, axis=axis)
    # [N, C, kh, oh, kw, ow] -> [N, C, kh, kw, oh, ow]
    ordered = g.op("Transpose", data, perm=[0, 1, 2, 4, 3, 5])
    return helpers.reshape(g, ordered, g.result_axes[0])


def _write_positions(g: Any, count: Extent, kernel: int, dilation: int, stride: int) -> Any:
    offsets = np.arange(kernel)[:, None] * dilation
    if count.is_static:
        return g.constant(offsets + np.arange(count.value) * stride)
    g.refuse_below(11, "windows over a symbolic axis (Range)")
    zero, step = (g.constant(np.asarray(n, np.int64)) for n in (0, stride))
    starts = g.op("Range", zero, g.scalar(count * stride), step)
    return g.op("Add", starts, g.constant(offsets))


def reference(
    input: np.ndarray, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> np.ndarray:
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (
        np.broadcast_to(value, 2) for value in (kernel_size, dilation, padding, stride)
    )
    wide = np.pad(input, ((0, 0), (0, 0), (ph, ph), (pw, pw)))
    columns = []
    for y in range(0, wide.shape[2] - dh * (kh - 1), sh):
        for x in range(0, wide.shape[3] - dw * (kw - 1), sw):
            patch = wide[:, :, y : y + dh * (kh - 1) + 1 : dh, x : x + dw * (kw - 1) + 1 : dw]
            columns.append(patch.reshape(len(input), -1))
    return np.stack(columns, axis=-1)


CASES = (
    Case((("batch", 2, 5, 6),), {"kernel_size": 3, "padding": 1}, reference=reference),
    Case((("batch", 2, 6, 7),), {"kernel_size": (2, 3), "dilation": (2, 1), "stride": (1, 2)},
         reference=reference, name="every setting"),
    Case(((1, 2, "height", "width"),), {"kernel_size": 2, "stride": 2, "padding": (1, 0)},
         reference=reference, lowest=11, name="symbolic image"),
)  # fmt: skip

OPERATOR = Operator(
    "unfold",
    declaration=unfold,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="",
    cases=CASES,
)


def unfold_dimension(input: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Every window of ``size`` entries along ``dimension``, ``step`` apart; a copy.

    Shape: that axis holds the windows, a new last axis their entries. Raises ValueError where
    no window fits. Source: ``torch.Tensor.unfold``; ONNX Gather-1 (a symbolic axis: Range-11).
    """
    input = as_tensor("unfold", "input", input)
    dim = normalize_dim("unfold", dimension, input.ndim)
    if input.ndim == 0 or step < 1 or not 0 < size <= input._array.shape[dim]:
        raise ValueError(
            f"unfold: windows of {size}, {step} apart, do not fit axis {dim} of shape "
            f"{list(input._array.shape)}"
        )
    count = (input.shape[dim] - size) // step + 1
    starts = unsqueeze(arange(0, count * step, step), 1)
    windows = look_up(input, [add(starts, arange(size))], (dim,))
    return movedim(windows, dim + 1, -1)


def _windows(input: np.ndarray, dimension: int, size: int, step: int) -> np.ndarray:
    every = np.lib.stride_tricks.sliding_window_view(input, size, dimension)
    return np.moveaxis(np.moveaxis(every, dimension, 0)[::step], 0, dimension)


ALSO = (
    Composite(
        "unfold_dimension",
        declaration=unfold_dimension,
        methods=("unfold",),
        public=False,
        cases=(
            Case((("batch", 6, 2),), {"dimension": 1, "size": 3, "step": 2}, reference=_windows),
            Case(
                (("time", 3),),
                {"dimension": 0, "size": 2, "step": 1},
                reference=_windows,
                lowest=9,
                name="symbolic axis",
            ),
        ),
    ),
)
