"""Normalisation over the last axes of each element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import layer_normalization as kernel
from onemodel.kernels._dtypes import widen
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.operators._spatial import check_floating
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.tensor import Tensor


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``(input - mean) / sqrt(var + eps) * weight + bias`` over the last axes.

    ``normalized_shape``: the sizes of those axes, one number for the last alone. ``weight`` and
    ``bias`` have that shape. Biased variance. Raises ValueError where the shapes do not fit,
    TypeError for mixed dtypes. Source: ``torch.nn.functional.layer_norm``; ONNX
    LayerNormalization-17.
    """
    input = as_tensor("layer_norm", "input", input)
    shape = normal_shape("layer_norm", input, normalized_shape, weight=weight, bias=bias)
    tensors = [input]
    if weight is not None or bias is not None:
        sizes, dtype = input._array.shape[input.ndim - len(shape) :], input._array.dtype
        tensors.append(Tensor(np.ones(sizes, dtype)) if weight is None else weight)
    if bias is not None:
        tensors.append(bias)
    return apply(OPERATOR, tensors, {"normalized_shape": shape, "eps": float(eps)})


def normal_shape(
    operator: str, input: Tensor, shape: Any, **weights: Tensor | None
) -> tuple[Any, ...]:
    """``normalized_shape`` as a tuple, checked against the input and the weights.

    Raises ValueError and TypeError naming the operator.
    """
    if isinstance(shape, (int, np.integer)) or hasattr(shape, "extent"):
        shape = (shape,)
    sizes = shape_argument(operator, (tuple(shape),))
    check_floating(operator, input=input, **weights)
    plain = tuple(getattr(size, "value", size) for size in sizes)
    if not plain or input._array.shape[input.ndim - len(plain) :] != plain:
        raise ValueError(
            f"{operator}: normalized_shape {list(plain)} is not how the shape "
            f"{list(input._array.shape)} of the input ends"
        )
    for name, tensor in weights.items():
        if tensor is not None and tensor._array.shape != plain:
            raise ValueError(
                f"{operator}: {name} has shape {list(tensor._array.shape)}, expected {list(plain)}"
            )
    return sizes


def forward(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float,
) -> tuple[np.ndarray, Any]:
    first = input.ndim - len(normalized_shape)
    if not input.size:
        return input.copy(), None
    scale = np.ones((), input.dtype) if weight is None else weight
    stash = 11 if input.dtype == np.float64 else 1
    result, mean, inverse = kernel.fast(
        input, scale, bias, axis=first, epsilon=eps, stash_type=stash
    )
    return result, (mean, inverse)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    x = widen(record.arrays[0])
    if record.saved is None:
        return tuple(np.zeros(shape, grad.dtype) for shape in record.shapes)
    mean, inverse = record.saved
    normal = (x - mean) * inverse
    gradient = widen(grad)
    first = x.ndim - len(record.attributes["normalized_shape"])
    lead, trail = tuple(range(first)), tuple(range(first, x.ndim))
    grads: list[np.ndarray | None] = [None] * len(record.needs)
    if len(grads) > 1 and record.needs[1]:
        grads[1] = (gradient * normal).sum(axis=lead)
    if len(grads) > 2 and record.needs[2]:
        grads[2] = gradient.sum(axis=lead)
    if record.needs[0]:
        scaled = gradient * widen(record.arrays[1]) if len(grads) > 1 else gradient
        count = math.prod(x.shape[first:])
        along = (scaled * normal).sum(axis=trail, keepdims=True) / count
        dx = scaled - scaled.sum(axis=trail, keepdims=True) / count
        dx -= normal * along
        grads[0] = dx * inverse
    return tuple(grads)


def axes(
    input: Axes,
    weight: Axes = (),
    bias: Axes = (),
    *,
    normalized_shape: tuple[Any, ...],
    eps: float,
) -> Axes:
    return input


def opset_7(
    g: Any, input: Any, weight: Any = None, bias: Any = None, normalized_shape: Any = (),
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    dims = list(range(input.rank - len(normalized_shape), input.rank))
    dtype = input.dtype
    # float16 is squared in float32, as eager and LayerNormalization do.
    wide = g.cast(input, np.float32) if dtype.itemsize < 4 else input
    centred = g.op("Sub", wide, reduce(g, "ReduceMean", wide, dims, True))
    variance = reduce(g, "ReduceMean", g.op("Mul", centred, centred), dims, True)
    deviation = g.op("Sqrt", g.op("Add", variance, g.like(eps, variance)))
    result = g.op("Div", centred, deviation)
    if weight is not None:
        result = g.op("Mul", result, g.cast(weight, wide.dtype))
    if bias is not None:
        result = g.op("Add", result, g.cast(bias, wide.dtype))
    return g.cast(result, dtype)


def opset_17(
    g: Any, input: Any, weight: Any = None, bias: Any = None, normalized_shape: Any = (),
    eps: float = 1e-5,
) -> Any:  # fmt: skip
    first = input.rank - len(normalized_shape)
    if weight is None:
        sizes = g.result_axes[0][first:]
        if not all(size.is_static for size in sizes):
            return opset_7(g, input, None, bias, normalized_shape, eps)
        weight = g.constant(np.ones([size.value for size in sizes], input.dtype))
    return g.op("LayerNormalization", input, weight, bias, axis=first - input.rank, epsilon=eps)


def reference(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    bias: np.ndarray | None = None,
    normalized_shape: Any = (),
    eps: float = 1e-5,
) -> np.ndarray:
    x = np.asarray(input, np.float64)
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    trail = tuple(range(x.ndim - count, x.ndim))
    size = np.float64(math.prod(x.shape[-count:]))
    centred = x - x.sum(trail, keepdims=True) / size
    normal = centred / np.sqrt((centred**2).sum(trail, keepdims=True) / size + eps)
    return normal * (1 if weight is None else weight) + (0 if bias is None else bias)


def _call(input: Tensor, *scaling: Tensor, normalized_shape: Any, **rest: Any) -> Tensor:
    weight, bias = (*scaling, None, None)[:2]
    return layer_norm(input, normalized_shape, weight, bias, **rest)


CASES = (
    Case((("batch", "time", 6), In((6,), constant=True), In((6,), constant=True)),
         {"normalized_shape": 6}, call=_call, reference=reference),
    Case((("batch", 3, 4), In((3, 4), constant=True)), {"normalized_shape": (3, 4), "eps": 1e-3},
         call=_call, reference=reference, name="two axes"),
    Case((("batch", 5),), {"normalized_shape": (5,)}, call=_call, reference=reference,
         name="no weights"),
    Case((("batch", "time"),), call=lambda x: layer_norm(x, x.shape[1:]),
         reference=lambda x: reference(x, normalized_shape=1), name="symbolic axis"),
)  # fmt: skip

OPERATOR = Operator(
    "layer_norm",
    declaration=layer_norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 17: opset_17},
    reads="i",
    saves=True,
    size_attributes=("normalized_shape",),
    cases=CASES,
)
