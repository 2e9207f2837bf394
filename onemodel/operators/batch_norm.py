"""Normalisation per channel: by kept statistics, or in training by the batch's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import batch_normalization as kernel
from onemodel.kernels._dtypes import widen
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, Refusal, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import check_floating
from onemodel.tensors.tensor import Tensor


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias`` per channel.

    Shapes: [N, C, ...] with [C] for the rest -> [N, C, ...]. Without ``training`` the running
    statistics normalise. With it the batch's own do (biased variance), and the running ones, where
    given, become ``(1 - momentum) * old + momentum * new`` in place (unbiased variance).
    Raises ValueError for shapes that do not fit, for missing running statistics, and for one
    value per channel in training; a trace refuses training (OM602).
    Source: ``torch.nn.functional.batch_norm``; ONNX BatchNormalization-7.
    """
    input = as_tensor("batch_norm", "input", input)
    if input.ndim < 2:
        raise ValueError(
            f"batch_norm: expected an input [N, C, ...], not {list(input._array.shape)}"
        )
    channels, dtype = input._array.shape[1], input._array.dtype
    weight = Tensor(np.ones(channels, dtype)) if weight is None else weight
    bias = Tensor(np.zeros(channels, dtype)) if bias is None else bias
    _check_channels(input, weight, bias, running_mean, running_var)
    check_floating("batch_norm", input=input, weight=weight, bias=bias)
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("batch_norm: evaluation needs running_mean and running_var")
        tensors = (input, running_mean, running_var, weight, bias)
        return apply(OPERATOR, tensors, {"eps": float(eps)})
    if input._array.size // max(1, channels) < 2:
        raise ValueError(
            f"batch_norm: training needs more than one value per channel, the input has shape "
            f"{list(input._array.shape)}"
        )
    result, mean, var = apply(TRAINING, (input, weight, bias), {"eps": float(eps)})
    count = input._array.size // channels
    _update(running_mean, mean._array, momentum)
    _update(running_var, var._array * (count / (count - 1)), momentum)
    return result


def _check_channels(input: Tensor, *tensors: Tensor | None) -> None:
    channels = input._array.shape[1]
    names = ("weight", "bias", "running_mean", "running_var")
    for name, tensor in zip(names, tensors, strict=True):
        if not isinstance(tensor, Tensor | None):
            raise TypeError(f"batch_norm: {name} must be a tensor, not {type(tensor).__name__}")
        if tensor is not None and tensor._array.shape != (channels,):
            raise ValueError(
                f"batch_norm: {name} has shape {list(tensor._array.shape)}, an input of shape "
                f"{list(input._array.shape)} needs [{channels}]"
            )


def _update(running: Tensor | None, new: np.ndarray, momentum: float) -> None:
    if running is None:
        return
    values = running._write("batch_norm()")
    values[...] = (1 - momentum) * widen(values) + momentum * new


# --- kept statistics ------------------------------------------------------------------------


def forward(
    input: np.ndarray,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    *,
    eps: float,
) -> np.ndarray:
    return kernel.inference(input, weight, bias, running_mean, running_var, epsilon=eps)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    x, mean, var, weight, _ = (widen(array) for array in record.arrays)
    gradient = widen(grad)
    channel, others = _layout(x)
    inverse = 1 / np.sqrt(var + x.dtype.type(record.attributes["eps"]))
    grads: list[np.ndarray | None] = [None] * 5
    if record.needs[0]:
        grads[0] = gradient * (weight * inverse).reshape(channel)
    if any(record.needs[1:]):
        total = gradient.sum(axis=others)
        centred = ((x - mean.reshape(channel)) * gradient).sum(axis=others)
        grads[1] = -total * weight * inverse
        grads[2] = centred * weight * inverse**3 * -0.5
        grads[3] = centred * inverse
        grads[4] = total
    return tuple(grads)


def _layout(x: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """How a [C] array is reshaped against ``x``, and the axes summed over."""
    return (-1,) + (1,) * (x.ndim - 2), (0, *range(2, x.ndim))


def axes(
    input: Axes, running_mean: Axes, running_var: Axes, weight: Axes, bias: Axes, *, eps: float
) -> Axes:
    return input


def opset_7(
    g: Any,
    input: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    eps: float,
) -> Any:
    return g.op("BatchNormalization", input, weight, bias, running_mean, running_var, epsilon=eps)


# --- the batch's own statistics -------------------------------------------------------------


def training_forward(
    input: np.ndarray, weight: np.ndarray, bias: np.ndarray, *, eps: float
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, np.ndarray]]:
    x = widen(input)
    channel, others = _layout(x)
    mean = x.mean(axis=others)
    normal = x - mean.reshape(channel)
    var = np.square(normal).mean(axis=others)
    inverse = 1 / np.sqrt(var + x.dtype.type(eps))
    normal *= inverse.reshape(channel)
    result = normal * widen(weight).reshape(channel)
    result += widen(bias).reshape(channel)
    return (result.astype(input.dtype, copy=False), mean, var), (normal, inverse)


def training_backward(
    record: BackwardRecord, grad: np.ndarray, *statistics: np.ndarray
) -> tuple[np.ndarray | None, ...]:
    # The statistics go into running averages only, which record no gradient.
    normal, inverse = record.saved
    weight, gradient = widen(record.arrays[1]), widen(grad)
    channel, others = _layout(normal)
    total = gradient.sum(axis=others)
    along = (gradient * normal).sum(axis=others)
    dx = None
    if record.needs[0]:
        count = normal.size // normal.shape[1]
        dx = normal * (along / -count).reshape(channel)
        dx += gradient
        dx -= (total / count).reshape(channel)
        dx *= (weight * inverse).reshape(channel)
    return dx, along, total


def refuses(attributes: Mapping[str, Any]) -> Refusal:
    return Refusal(
        "OM602",
        "BatchNorm in training mode normalises by the batch's own statistics and changes its "
        "running ones; a graph for inference must use the running ones",
        (("switch the module to evaluation before tracing", "model.eval()"),),
    )


def reference(
    input: np.ndarray,
    mean: np.ndarray,
    var: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> np.ndarray:
    x = np.moveaxis(np.asarray(input, np.float64), 1, -1)
    if training:
        rows = x.reshape(-1, x.shape[-1])
        mean = rows.sum(0) / np.float64(len(rows))
        var = ((rows - mean) ** 2).sum(0) / np.float64(len(rows))
    normal = (x - mean) / np.sqrt(np.asarray(var, np.float64) + eps)
    if weight is not None:
        normal = normal * weight
    if bias is not None:
        normal = normal + bias
    return np.moveaxis(normal, -1, 1)


def _channel(low: float = -1.0, high: float = 1.0) -> In:
    return In((3,), low=low, high=high, constant=True)


CASES = (
    Case((("batch", 3, 4, 5), _channel(), _channel(0.5, 2), _channel(), _channel()),
         reference=reference),
    Case((("batch", 3, "time"), _channel(), _channel(0.5, 2), _channel(), _channel()),
         {"eps": 1e-3}, reference=reference, name="one axis"),
    Case((("batch", 3), _channel(), _channel(0.5, 2)), reference=reference, name="features"),
)  # fmt: skip

OPERATOR = Operator(
    "batch_norm",
    declaration=batch_norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)


def batch_norm_training(
    input: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`batch_norm` by the batch's own statistics: (result, mean, biased variance)."""
    return apply(TRAINING, (input, weight, bias), {"eps": eps})


TRAINING = Operator(
    "batch_norm_training",
    declaration=batch_norm_training,
    forward=training_forward,
    backward=training_backward,
    reads="i",
    saves=True,
    refuses=refuses,
    public=False,
    cases=(
        Case((("batch", 3, 4), (3,), (3,)), trace=False,
             call=lambda x, w, b: batch_norm(x, None, None, w, b, True),
             reference=lambda x, w, b: reference(x, x, x, w, b, True)),
    ),
)  # fmt: skip

ALSO = (TRAINING,)
