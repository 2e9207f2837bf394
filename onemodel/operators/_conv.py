"""Convolutions of any rank: argument checks, gradients by unfolding, the Conv node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import conv as kernel
from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import Window, padded, window
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import (
    Ints,
    as_batch,
    batched,
    check_bias,
    check_floating,
    check_input,
    conv_pads,
    per_axis,
    result_rank,
)
from onemodel.tensors import seam
from onemodel.tensors.layout import STRIDED, plain
from onemodel.tensors.tensor import Tensor

COLUMN_BYTES = 8 << 20
"""Unfolded windows of as many images as fit here are multiplied at once."""


def convolve(
    operator: Operator,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Tensor:
    """Check the arguments of a convolution with ``rank`` spatial axes and run it."""
    name = operator.name
    input, weight = as_tensor(name, "input", input), as_tensor(name, "weight", weight)
    bias = None if bias is None else as_tensor(name, "bias", bias)
    if weight.layout != STRIDED:
        if input._mark is not None:
            seam.layout(weight)  # the graph would hold it as a constant
        weight = plain(weight)
    check_input(name, input, rank)
    check_floating(name, input=input, weight=weight, bias=bias)
    if weight.ndim != rank + 2:
        raise ValueError(
            f"{name}: expected a weight of {rank + 2} axes, not {list(weight._array.shape)}"
        )
    kernel_size = weight._array.shape[2:]
    strides = per_axis(name, "stride", stride, rank)
    dilations = per_axis(name, "dilation", dilation, rank)
    pads = conv_pads(name, padding, kernel_size, strides, dilations)
    _check_channels(name, input, weight, bias, groups, rank)
    tensors = (input, weight) if bias is None else (input, weight, bias)
    return apply(
        operator,
        tensors,
        {"stride": strides, "padding": pads, "dilation": dilations, "groups": int(groups)},
    )


def _check_channels(
    name: str, input: Tensor, weight: Tensor, bias: Tensor | None, groups: int, rank: int
) -> None:
    channels = input._array.shape[-rank - 1]
    outputs, per_group = weight._array.shape[:2]
    if groups < 1 or channels != per_group * groups or outputs % groups:
        raise ValueError(
            f"{name}: an input of shape {list(input._array.shape)} has {channels} channels, a "
            f"weight of shape {list(weight._array.shape)} with groups={groups} needs "
            f"{per_group * groups}, and output channels that divide by groups"
        )
    check_bias(name, bias, outputs)


def forward(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> np.ndarray:
    result = kernel.fast(
        batched(input, len(stride)),
        weight,
        bias,
        strides=stride,
        pads=padding,
        dilations=dilation,
        group=groups,
    )
    return result if input.ndim == result.ndim else result[0]


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    attributes = record.attributes
    stride, groups = attributes["stride"], attributes["groups"]
    rank = len(stride)
    input, weight = record.arrays[:2]
    x, w = widen(batched(input, rank)), widen(weight)
    gradient = widen(batched(grad, rank))
    view = window(
        x.shape[2:],
        w.shape[2:],
        strides=stride,
        dilations=attributes["dilation"],
        pads=attributes["padding"],
    )
    grads: list[np.ndarray | None] = [None] * len(record.needs)
    if record.needs[0]:
        grads[0] = input_gradient(gradient, w, groups, view).reshape(input.shape)
    if record.needs[1]:
        grads[1] = weight_gradient(x, gradient, groups, view).reshape(w.shape)
    if len(grads) > 2 and record.needs[2]:
        grads[2] = gradient.sum(axis=(0, *range(2, gradient.ndim)))
    return tuple(grads)


def input_gradient(grad: np.ndarray, w: np.ndarray, groups: int, view: Window) -> np.ndarray:
    """The transpose of the convolution: every output gradient spread over its window."""
    batch, channels = grad.shape[0], w.shape[1] * groups
    shape = (batch, channels, *view.size)
    if 0 in shape or 0 in view.output:
        return np.zeros(shape, grad.dtype)
    reach = [
        max(needed, begin + size)
        for needed, begin, size in zip(view.needed(), view.begins, view.size, strict=True)
    ]
    plain = math.prod(view.kernel) == 1 and set(view.strides) == {1} and view.output == view.size
    if plain:
        return _columns(grad, w, groups).reshape(shape)
    result = np.zeros((batch, channels, *reach), grad.dtype)
    if w.shape[1] == 1 and groups > 1:
        _spread_depthwise(result, grad, w, view)
    else:
        _spread(result, grad, w, groups, view)
    where = (slice(b, b + n) for b, n in zip(view.begins, view.size, strict=True))
    return result[(Ellipsis, *where)]


def _columns(grad: np.ndarray, w: np.ndarray, groups: int) -> np.ndarray:
    """Weight' x gradient per group: (N, groups, C/groups * taps, positions)."""
    outputs = w.shape[0]
    weights = w.reshape(groups, outputs // groups, -1).swapaxes(1, 2)
    return np.matmul(weights, grad.reshape(grad.shape[0], groups, outputs // groups, -1))


def _spread(result: np.ndarray, grad: np.ndarray, w: np.ndarray, groups: int, view: Window) -> None:
    channels = result.shape[1]
    per_image = channels * math.prod(view.kernel) * math.prod(view.output) * grad.itemsize
    chunk = max(1, COLUMN_BYTES // per_image)
    for start in range(0, len(grad), chunk):
        part = grad[start : start + chunk]
        columns = _columns(part, w, groups)
        columns = columns.reshape(len(part), channels, *view.kernel, *view.output)
        target = result[start : start + chunk]
        for offset in view.offsets():
            target[(Ellipsis, *view.slices(offset))] += columns[(slice(None), slice(None), *offset)]


def _spread_depthwise(result: np.ndarray, grad: np.ndarray, w: np.ndarray, view: Window) -> None:
    batch, channels = result.shape[:2]
    rank = len(view.output)
    split = grad.reshape(batch, channels, -1, *view.output)
    weights = w.reshape(channels, split.shape[2], -1)
    for image in range(batch):  # one image at a time stays in the cache
        for m in range(split.shape[2]):
            for i, offset in enumerate(view.offsets()):
                factor = weights[:, m, i].reshape((-1,) + (1,) * rank)
                target = result[(image, slice(None), *view.slices(offset))]
                target += split[image, :, m] * factor


def weight_gradient(x: np.ndarray, grad: np.ndarray, groups: int, view: Window) -> np.ndarray:
    """Output gradients times the windows they came from, summed over images and positions.

    The images of a chunk join the positions, so that one long product serves them all.
    Shape: (groups, M/groups, C/groups * taps).
    """
    batch, channels = x.shape[:2]
    outputs, taps = grad.shape[1], math.prod(view.kernel)
    per_group = channels // groups
    total = np.zeros((groups, outputs // groups, per_group * taps), x.dtype)
    if 0 in x.shape or 0 in view.output:
        return total
    source = padded(x, view)
    if per_group == 1 and groups > 1:
        return _weight_depthwise(source, grad, view)
    positions = math.prod(view.output)
    chunk = min(batch, max(1, COLUMN_BYTES // (channels * taps * positions * x.itemsize)))
    columns = np.empty((channels, *view.kernel, chunk, *view.output), x.dtype)
    for start in range(0, batch, chunk):
        images = source[start : start + chunk].swapaxes(0, 1)
        count = images.shape[1]
        if count < chunk:
            columns = np.empty((channels, *view.kernel, count, *view.output), x.dtype)
        for offset in view.offsets():
            columns[(slice(None), *offset)] = images[(Ellipsis, *view.slices(offset))]
        rows = grad[start : start + chunk].swapaxes(0, 1).reshape(groups, -1, count * positions)
        flat = columns.reshape(groups, per_group * taps, count * positions)
        total += np.matmul(rows, flat.swapaxes(1, 2))
    return total


def _weight_depthwise(source: np.ndarray, grad: np.ndarray, view: Window) -> np.ndarray:
    batch, channels = source.shape[:2]
    split = grad.reshape(batch, channels, -1, math.prod(view.output))
    total = np.zeros((channels, split.shape[2], math.prod(view.kernel)), source.dtype)
    for i, offset in enumerate(view.offsets()):
        shifted = source[(Ellipsis, *view.slices(offset))].reshape(batch, channels, -1, 1)
        total[:, :, i] = np.matmul(split, shifted)[..., 0].sum(axis=0)
    return total


def axes(
    input: Axes,
    weight: Axes,
    bias: Axes = (),
    *,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
) -> Axes:
    single = len(input) == len(stride) + 1
    result = rules.conv((weight[0], *input) if single else input, weight, stride, padding, dilation)
    return result[1:] if single else result


def opset_7(
    g: Any,
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Ints = (),
    padding: Ints = (),
    dilation: Ints = (),
    groups: int = 1,
) -> Any:
    def write(batch: Any) -> Any:
        return g.op(
            "Conv",
            batch,
            weight,
            bias,
            dilations=dilation,
            group=groups,
            kernel_shape=fixed_sizes(weight.shape, len(stride)),
            pads=padding,
            strides=stride,
        )

    return as_batch(g, input, len(stride), write, result_rank(g))


def fixed_sizes(shape: Sequence[Any] | None, rank: int) -> list[int] | None:
    """The last ``rank`` sizes of a graph value where they are known, else None."""
    if shape is None or not all(isinstance(size, int) for size in shape[-rank:]):
        return None
    return list(shape[-rank:])


def reference(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> np.ndarray:
    """Every output element as a sum of products in float64, position by position."""
    rank = weight.ndim - 2
    x, w = np.asarray(input, np.float64), np.asarray(weight, np.float64)
    x = x if x.ndim == rank + 2 else x[None]
    stride, dilation = (np.broadcast_to(v, rank) for v in (stride, dilation))
    if padding == "same":
        totals = [d * (k - 1) for d, k in zip(dilation, w.shape[2:], strict=True)]
        pads = [(t // 2, t - t // 2) for t in totals]
    else:
        pads = [(p, p) for p in np.broadcast_to(0 if padding == "valid" else padding, rank)]
    x = np.pad(x, [(0, 0), (0, 0), *pads])
    reach = [(k - 1) * d + 1 for k, d in zip(w.shape[2:], dilation, strict=True)]
    out = [(n - r) // s + 1 for n, r, s in zip(x.shape[2:], reach, stride, strict=True)]
    result = np.empty((x.shape[0], w.shape[0], *out))
    per_group, outputs = w.shape[1], w.shape[0] // groups
    for place in np.ndindex(*out):
        where = tuple(
            slice(p * s, p * s + r, d)
            for p, s, r, d in zip(place, stride, reach, dilation, strict=True)
        )
        for m in range(w.shape[0]):
            first = m // outputs * per_group
            patch = x[(slice(None), slice(first, first + per_group), *where)]
            result[(slice(None), m, *place)] = (patch * w[m]).sum(axis=tuple(range(1, rank + 2)))
    if bias is not None:
        result += np.asarray(bias, np.float64).reshape((-1,) + (1,) * rank)
    return result if input.ndim == rank + 2 else result[0]
