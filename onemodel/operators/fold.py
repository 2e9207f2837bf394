"""Columns of patches added back into images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, AxesError, as_extent
from onemodel.axes.rules import same_extent
from onemodel.axes.size import extent_of, strip_sizes
from onemodel.operators import unfold as _unfold
from onemodel.operators._case import Case
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.operators.unfold import Pair
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> Tensor:  # fmt: skip
    """[N, C*kh*kw, L] -> [N, C, H, W]: the adjoint of :func:`unfold`; overlaps are added.

    ``output_size`` is (H, W), sizes of traced tensors included. Raises ValueError where the
    columns do not fit. Source: ``torch.nn.functional.fold``; ONNX Col2Im-18 (Gather and
    ReduceSum below, for images of fixed size).
    """
    input = as_tensor("fold", "input", input)
    size = output_size if isinstance(output_size, (tuple, list)) else (output_size, output_size)
    attributes = {
        "output_size": shape_argument("fold", (tuple(size),)),
        **_unfold.settings("fold", kernel_size, dilation, padding, stride),
    }
    return apply(OPERATOR, (input,), attributes)


def forward(
    input: np.ndarray, *, output_size: tuple[int, int], kernel_size: Pair, dilation: Pair,
    padding: Pair, stride: Pair,
) -> np.ndarray:  # fmt: skip
    options = {
        "kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride,
    }  # fmt: skip
    rows, columns = _unfold.grids(output_size, **options)
    area, count = math.prod(kernel_size), rows.shape[2] * columns.shape[2]
    if input.ndim != 3 or input.shape[1] % area or input.shape[2] != count:
        raise ValueError(
            f"expected [N, C*{area}, {count}] for an image of {list(output_size)} and these windows"
        )
    shape = (input.shape[0], input.shape[1] // area, *output_size)
    return _unfold.add_patches(input, shape, options)


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    options = {k: v for k, v in strip_sizes(record.attributes).items() if k != "output_size"}
    return _unfold.forward(grad, **options)


def axes(
    input: Axes, *, output_size: tuple[Any, Any], kernel_size: Pair, dilation: Pair,
    padding: Pair, stride: Pair,
) -> Axes:  # fmt: skip
    height, width = (extent_of(size) for size in output_size)
    down, across = _unfold.window_counts((height, width), kernel_size, dilation, padding, stride)
    same_extent(input[2], down * across, "the windows of fold")
    area = math.prod(kernel_size)
    channels = input[1] // area
    if channels * area != input[1]:
        raise AxesError(f"fold: {input[1]} rows are no multiple of {area} at every size")
    return (input[0], channels, height, width)


def opset_18(
    g: Any, input: Any, output_size: tuple[Any, Any], kernel_size: Pair, dilation: Pair,
    padding: Pair, stride: Pair,
) -> Any:  # fmt: skip
    return g.op(
        "Col2Im",
        input,
        g.sizes(output_size),
        g.ints(kernel_size),
        dilations=dilation,
        pads=[*padding, *padding],
        strides=stride,
    )


def opset_7(
    g: Any, input: Any, output_size: tuple[Any, Any], kernel_size: Pair, dilation: Pair,
    padding: Pair, stride: Pair,
) -> Any:  # fmt: skip
    """Each pixel looks up what every entry of the window sends to it; a zero stands for nothing."""
    size = tuple(as_extent(part) for part in output_size)
    if not all(part.is_static for part in size):
        g.refuse_below(18, "folding into an image of symbolic size (Col2Im)")
    height, width = (part.value for part in size)
    batch, channels, *_ = g.result_axes[0]
    top, left = padding
    rows, columns = np.broadcast_arrays(
        *_unfold.grids((height, width), kernel_size, dilation, padding, stride)
    )
    area, count = math.prod(kernel_size), rows.shape[2] * rows.shape[3]
    sources = np.full((area, height + 2 * top, width + 2 * left), area * count, np.int64)
    for entry, (y, x) in enumerate(
        zip(rows.reshape(area, count), columns.reshape(area, count), strict=True)
    ):
        sources[entry, y, x] = entry * count + np.arange(count)
    sources = sources[:, top : top + height, left : left + width].reshape(area, -1)
    flat = helpers.reshape(g, input, [batch, channels, area * count])
    with_zero = helpers.pad(g, flat, [0, 0, 0, 0, 0, 1])
    sent = g.op("Gather", with_zero, g.constant(sources), axis=2)
    total = helpers.reduce(g, "ReduceSum", sent, [2], False)
    return helpers.reshape(g, total, g.result_axes[0])


def reference(
    input: np.ndarray, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0,
    stride: Any = 1,
) -> np.ndarray:  # fmt: skip
    (kh, kw), (dh, dw), (ph, pw), (sh, sw) = (
        np.broadcast_to(value, 2) for value in (kernel_size, dilation, padding, stride)
    )
    height, width = output_size
    batch, rows, _ = input.shape
    result = np.zeros((batch, rows // (kh * kw), height + 2 * ph, width + 2 * pw), input.dtype)
    column = 0
    for y in range(0, height + 2 * ph - dh * (kh - 1), sh):
        for x in range(0, width + 2 * pw - dw * (kw - 1), sw):
            patch = input[:, :, column].reshape(batch, -1, kh, kw)
            result[:, :, y : y + dh * (kh - 1) + 1 : dh, x : x + dw * (kw - 1) + 1 : dw] += patch
            column += 1
    return result[:, :, ph : ph + height, pw : pw + width]


CASES = (
    Case((("batch", 18, 30),), {"output_size": (5, 6), "kernel_size": 3, "padding": 1},
         reference=reference),
    Case((("batch", 12, 12),),
         {"output_size": (6, 7), "kernel_size": (2, 3), "dilation": (2, 1), "stride": (1, 2)},
         reference=reference, name="every setting"),
    Case(((1, 2, "height", "width"),), lowest=18, name="symbolic image",
         call=lambda x: fold(_unfold.unfold(x, 2), x.shape[2:], 2),
         reference=lambda x: reference(_unfold.reference(x, 2), x.shape[2:], 2)),
)  # fmt: skip

OPERATOR = Operator(
    "fold",
    declaration=fold,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 18: opset_18},
    reads="",
    size_attributes=("output_size",),
    cases=CASES,
)
