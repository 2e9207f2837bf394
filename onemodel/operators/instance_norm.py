"""Normalisation per image and channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels._dtypes import widen
from onemodel.operators import _normalize
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.batch_norm import batch_norm
from onemodel.operators.group_norm import affine
from onemodel.tensors.tensor import Tensor


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """``(x - mean) / sqrt(var + eps) * weight + bias``, statistics per image and channel.

    Shapes: [N, C, d1, ...] with [C] for the rest -> the same. Running statistics, where given,
    are updated in place (which a trace refuses); without ``use_input_stats`` they normalise, as
    in :func:`batch_norm`. Raises ValueError for shapes that do not fit or missing statistics.
    Source: ``torch.nn.functional.instance_norm``; ONNX InstanceNormalization-6.
    """
    input = as_tensor("instance_norm", "input", input)
    if not use_input_stats:
        return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if input.ndim < 3:
        raise ValueError(
            f"instance_norm: expected an input [N, C, d1, ...], not {list(input._array.shape)}"
        )
    tensors = affine("instance_norm", input, weight, bias)
    if running_mean is not None and running_var is not None:
        _update(input, running_mean, running_var, momentum)
    return apply(OPERATOR, tensors, {"eps": float(eps)})


def _update(input: Tensor, mean: Tensor, var: Tensor, momentum: float) -> None:
    x = widen(input._array)
    within = tuple(range(2, x.ndim))
    values = mean._write("instance_norm()")
    values[...] = (1 - momentum) * values + momentum * x.mean(axis=within).mean(axis=0)
    values = var._write("instance_norm()")
    values[...] = (1 - momentum) * values + momentum * x.var(axis=within, ddof=1).mean(axis=0)


def forward(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    *,
    eps: float,
) -> np.ndarray:
    return _normalize.forward(input, weight, bias, input.shape[1], eps)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    input, *rest = record.arrays
    weight = rest[0] if rest else None
    eps = record.attributes["eps"]
    return _normalize.backward(input, weight, grad, input.shape[1], eps, record.needs)


def axes(input: Axes, weight: Axes = (), bias: Axes = (), *, eps: float) -> Axes:
    return input


def opset_7(g: Any, input: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    channels = g.result_axes[0][1]
    if weight is None or bias is None:
        if not channels.is_static:
            raise g.unsupported("instance_norm without weights needs a fixed number of channels")
        shape = (channels.value,)
        weight = g.constant(np.ones(shape, input.dtype)) if weight is None else weight
        bias = g.constant(np.zeros(shape, input.dtype)) if bias is None else bias
    return g.op("InstanceNormalization", input, weight, bias, epsilon=eps)


def _call(input: Tensor, *rest: Any, **options: Any) -> Tensor:
    return instance_norm(input, None, None, *rest, **options)


def reference(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    eps: float = 1e-5,
) -> np.ndarray:
    return _normalize.reference(input, weight, bias, input.shape[1], eps)


CASES = (
    Case((("batch", 3, "height", 4), In((3,), constant=True), In((3,), constant=True)),
         call=_call, reference=reference),
    Case((("batch", 3, "time"),), {"eps": 1e-3}, call=_call, reference=reference,
         name="no weights"),
)  # fmt: skip

OPERATOR = Operator(
    "instance_norm",
    declaration=instance_norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)
