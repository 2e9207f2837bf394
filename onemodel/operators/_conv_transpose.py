"""Transposed convolutions of any rank: argument checks, gradients, the ConvTranspose node."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import conv_transpose as kernel
from onemodel.kernels._correlate import correlate
from onemodel.kernels._dtypes import widen
from onemodel.kernels._windows import Window
from onemodel.operators._conv import fixed_sizes, weight_gradient
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import (
    Ints,
    as_batch,
    batched,
    check_bias,
    check_floating,
    check_input,
    per_axis,
    result_rank,
)
from onemodel.tensors.tensor import Tensor


def convolve_transposed(
    operator: Operator,
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Tensor:
    """Check the arguments of a transposed convolution and run it."""
    name = operator.name
    input, weight = as_tensor(name, "input", input), as_tensor(name, "weight", weight)
    bias = None if bias is None else as_tensor(name, "bias", bias)
    check_input(name, input, rank)
    check_floating(name, input=input, weight=weight, bias=bias)
    shape = weight._array.shape
    if len(shape) != rank + 2:
        raise ValueError(f"{name}: expected a weight of {rank + 2} axes, not {list(shape)}")
    attributes = {
        "stride": per_axis(name, "stride", stride, rank),
        "padding": per_axis(name, "padding", padding, rank, low=0),
        "output_padding": per_axis(name, "output_padding", output_padding, rank, low=0),
        "groups": int(groups),
        "dilation": per_axis(name, "dilation", dilation, rank),
    }
    _check_sizes(name, input, shape, bias, attributes, rank)
    tensors = (input, weight) if bias is None else (input, weight, bias)
    return apply(operator, tensors, attributes)


def _check_sizes(
    name: str,
    input: Tensor,
    shape: tuple[int, ...],
    bias: Tensor | None,
    attributes: dict[str, Any],
    rank: int,
) -> None:
    channels, groups = input._array.shape[-rank - 1], attributes["groups"]
    if groups < 1 or channels != shape[0] or channels % groups:
        raise ValueError(
            f"{name}: an input of shape {list(input._array.shape)} has {channels} channels, a "
            f"weight of shape {list(shape)} needs {shape[0]}, divisible by groups={groups}"
        )
    check_bias(name, bias, shape[1] * groups)
    for i in range(rank):
        extra, step = attributes["output_padding"][i], attributes["stride"][i]
        spread = attributes["dilation"][i]
        if extra >= max(step, spread):
            raise ValueError(
                f"{name}: output_padding {extra} must be smaller than the stride {step} "
                f"or the dilation {spread}"
            )
        size = (input._array.shape[i - rank] - 1) * step + spread * (shape[i + 2] - 1)
        if size + extra + 1 - 2 * attributes["padding"][i] < 1:
            raise ValueError(
                f"{name}: padding {attributes['padding'][i]} leaves nothing of spatial axis {i}"
            )


def forward(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    *,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    groups: int,
    dilation: Ints,
) -> np.ndarray:
    result = kernel.fast(
        batched(input, len(stride)),
        weight,
        bias,
        strides=stride,
        pads=padding * 2,
        dilations=dilation,
        group=groups,
        output_padding=output_padding,
    )
    return result if input.ndim == result.ndim else result[0]


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    """The convolution whose transpose the forward is, applied to the gradient."""
    a = record.attributes
    rank, groups = len(a["stride"]), a["groups"]
    input, weight = record.arrays[:2]
    x, w = widen(batched(input, rank)), widen(weight)
    gradient = widen(batched(grad, rank))
    view = Window(
        gradient.shape[2:], w.shape[2:], a["stride"], a["dilation"], a["padding"], a["padding"],
        x.shape[2:],
    )  # fmt: skip
    grads: list[np.ndarray | None] = [None] * len(record.needs)
    if record.needs[0]:
        grads[0] = correlate(gradient, w, groups, view).reshape(input.shape)
    if record.needs[1]:
        grads[1] = weight_gradient(gradient, x, groups, view).reshape(w.shape)
    if len(grads) > 2 and record.needs[2]:
        grads[2] = gradient.sum(axis=(0, *range(2, gradient.ndim)))
    return tuple(grads)


def axes(
    input: Axes,
    weight: Axes,
    bias: Axes = (),
    *,
    stride: Ints,
    padding: Ints,
    output_padding: Ints,
    groups: int,
    dilation: Ints,
) -> Axes:
    single = len(input) == len(stride) + 1
    batch = (weight[0], *input) if single else input
    result = rules.conv_transpose(batch, weight, stride, padding, dilation, output_padding, groups)
    return result[1:] if single else result


def opset_7(
    g: Any,
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Ints = (),
    padding: Ints = (),
    output_padding: Ints = (),
    groups: int = 1,
    dilation: Ints = (),
) -> Any:
    def write(batch: Any) -> Any:
        return g.op(
            "ConvTranspose",
            batch,
            weight,
            bias,
            dilations=dilation,
            group=groups,
            kernel_shape=fixed_sizes(weight.shape, len(stride)),
            output_padding=output_padding if any(output_padding) else None,
            pads=[*padding, *padding],
            strides=stride,
        )

    return as_batch(g, input, len(stride), write, result_rank(g))


def reference(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> np.ndarray:
    """Every input element times its kernel, added at its place, in float64."""
    rank = weight.ndim - 2
    x, w = np.asarray(input, np.float64), np.asarray(weight, np.float64)
    x = x if x.ndim == rank + 2 else x[None]
    step, pad, extra, spread = (
        np.broadcast_to(v, rank) for v in (stride, padding, output_padding, dilation)
    )
    full = [
        (n - 1) * s + d * (k - 1) + 1 + e
        for n, s, d, k, e in zip(x.shape[2:], step, spread, w.shape[2:], extra, strict=True)
    ]
    per_group, inputs = w.shape[1], w.shape[0] // groups
    result = np.zeros((x.shape[0], per_group * groups, *full))
    for place in np.ndindex(*x.shape[2:]):
        for tap in np.ndindex(*w.shape[2:]):
            steps = zip(place, step, tap, spread, strict=True)
            where = tuple(p * s + t * d for p, s, t, d in steps)
            for c in range(w.shape[0]):
                first = c // inputs * per_group
                target = (slice(None), slice(first, first + per_group), *where)
                result[target] += np.outer(x[(slice(None), c, *place)], w[(c, slice(None), *tap)])
    cut = tuple(slice(p, n - p) for p, n in zip(pad, full, strict=True))
    result = result[(Ellipsis, *cut)]
    if bias is not None:
        result = result + np.asarray(bias, np.float64).reshape((-1,) + (1,) * rank)
    return result if input.ndim == rank + 2 else result[0]
