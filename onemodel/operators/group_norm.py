"""Normalisation per image and group of channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.operators import _normalize
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._spatial import check_floating
from onemodel.symbolic.helpers import reshape
from onemodel.tensors.tensor import Tensor


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, statistics per image and channel group.

    Shapes: [N, C, ...] with [C] for weight and bias -> the same. Raises ValueError unless the
    channels divide into ``num_groups`` and the weights fit, TypeError for mixed dtypes.
    Source: ``torch.nn.functional.group_norm``; ONNX GroupNormalization-21,
    InstanceNormalization-6 below.
    """
    input = as_tensor("group_norm", "input", input)
    tensors = affine("group_norm", input, weight, bias)
    channels = input._array.shape[1]
    if num_groups < 1 or channels % num_groups:
        raise ValueError(f"group_norm: {channels} channels do not divide into {num_groups} groups")
    return apply(OPERATOR, tensors, {"num_groups": int(num_groups), "eps": float(eps)})


def affine(
    operator: str, input: Tensor, weight: Tensor | None, bias: Tensor | None
) -> list[Tensor]:
    """The tensors of a channel-wise normalisation; a bias without a weight gets one of ones.

    Raises ValueError and TypeError naming the operator.
    """
    if input.ndim < 2:
        raise ValueError(
            f"{operator}: expected an input [N, C, ...], not {list(input._array.shape)}"
        )
    check_floating(operator, input=input, weight=weight, bias=bias)
    channels = input._array.shape[1]
    for name, tensor in (("weight", weight), ("bias", bias)):
        if tensor is not None and tensor._array.shape != (channels,):
            raise ValueError(
                f"{operator}: {name} has shape {list(tensor._array.shape)}, an input of shape "
                f"{list(input._array.shape)} needs [{channels}]"
            )
    if weight is None and bias is None:
        return [input]
    ones = Tensor(np.ones(channels, input._array.dtype)) if weight is None else weight
    return [input, ones] if bias is None else [input, ones, bias]


def forward(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    *,
    num_groups: int,
    eps: float,
) -> np.ndarray:
    return _normalize.forward(input, weight, bias, num_groups, eps)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    input, *rest = record.arrays
    attributes = record.attributes
    return _normalize.backward(
        input,
        rest[0] if rest else None,
        grad,
        attributes["num_groups"],
        attributes["eps"],
        record.needs,
    )


def axes(input: Axes, weight: Axes = (), bias: Axes = (), *, num_groups: int, eps: float) -> Axes:
    return input


def opset_7(
    g: Any, input: Any, weight: Any = None, bias: Any = None, num_groups: int = 1,
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    # A group is one channel of an image whose pixels are the group's elements.
    rows = g.op("Reshape", input, g.ints([0, num_groups, -1]))
    ones, zeros = np.ones(num_groups, input.dtype), np.zeros(num_groups, input.dtype)
    normal = g.op("InstanceNormalization", rows, ones, zeros, epsilon=eps)
    result = reshape(g, normal, g.result_axes[0])
    if weight is not None:
        result = g.op("Mul", result, _normalize.per_channel(g, weight, input.rank))
    if bias is not None:
        result = g.op("Add", result, _normalize.per_channel(g, bias, input.rank))
    return result


def opset_21(
    g: Any, input: Any, weight: Any = None, bias: Any = None, num_groups: int = 1,
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    channels = g.result_axes[0][1]
    if input.rank < 3 or not channels.is_static:
        return opset_7(g, input, weight, bias, num_groups, eps)
    if weight is None:
        weight = g.constant(np.ones(channels.value, input.dtype))
    if bias is None:
        bias = g.constant(np.zeros(channels.value, input.dtype))
    return g.op("GroupNormalization", input, weight, bias, num_groups=num_groups, epsilon=eps)


def _call(input: Tensor, *rest: Any, num_groups: int, **options: Any) -> Tensor:
    return group_norm(input, num_groups, *rest, **options)


reference = _normalize.reference

CASES = (
    Case((("batch", 4, "height", 3), In((4,), constant=True), In((4,), constant=True)),
         {"num_groups": 2}, call=_call, reference=reference),
    Case((("batch", 6, "time"),), {"num_groups": 3, "eps": 1e-3}, call=_call,
         reference=reference, name="no weights"),
    Case((("batch", 6), In((6,), constant=True)), {"num_groups": 2}, call=_call,
         reference=reference, name="features"),
)  # fmt: skip

OPERATOR = Operator(
    "group_norm",
    declaration=group_norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 21: opset_21},
    reads="i",
    cases=CASES,
)
