"""Division by the root mean square over the last axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels import rms_normalization as kernel
from onemodel.kernels._dtypes import widen
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.layer_norm import normal_shape
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.tensor import Tensor


def rms_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """``input / sqrt(mean(input**2) + eps) * weight`` over the last axes.

    ``normalized_shape``: the sizes of those axes, one number for the last alone; ``weight`` has
    that shape. ``eps`` is the dtype's machine epsilon by default. Raises ValueError where the
    shapes do not fit, TypeError for mixed dtypes. Source: ``torch.nn.functional.rms_norm``;
    ONNX RMSNormalization-23.
    """
    input = as_tensor("rms_norm", "input", input)
    shape = normal_shape("rms_norm", input, normalized_shape, weight=weight)
    if eps is None:
        dtype = input._array.dtype
        eps = float(np.finfo(dtype).eps) if dtype.kind == "f" else 2.0**-7
    tensors = [input] if weight is None else [input, weight]
    return apply(OPERATOR, tensors, {"normalized_shape": shape, "eps": float(eps)})


def forward(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    *,
    normalized_shape: tuple[int, ...],
    eps: float,
) -> np.ndarray:
    if not input.size:
        return input.copy()
    scale = np.ones((), input.dtype) if weight is None else weight
    return kernel.fast(input, scale, axis=input.ndim - len(normalized_shape), epsilon=eps)


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
    x, gradient = widen(record.arrays[0]), widen(grad)
    if not x.size:
        return tuple(np.zeros(shape, grad.dtype) for shape in record.shapes)
    first = x.ndim - len(record.attributes["normalized_shape"])
    lead, trail = tuple(range(first)), tuple(range(first, x.ndim))
    count = math.prod(x.shape[first:])
    mean = np.square(x).sum(axis=trail, keepdims=True) / count
    inverse = 1 / np.sqrt(mean + x.dtype.type(record.attributes["eps"]))
    normal = x * inverse
    grads: list[np.ndarray | None] = [None] * len(record.needs)
    if len(grads) > 1 and record.needs[1]:
        grads[1] = (gradient * normal).sum(axis=lead)
    if record.needs[0]:
        scaled = gradient * widen(record.arrays[1]) if len(grads) > 1 else gradient
        along = (scaled * normal).sum(axis=trail, keepdims=True) / count
        grads[0] = (scaled - normal * along) * inverse
    return tuple(grads)


def axes(input: Axes, weight: Axes = (), *, normalized_shape: tuple[Any, ...], eps: float) -> Axes:
    return input


def opset_7(
    g: Any, input: Any, weight: Any = None, normalized_shape: Any = (), eps: float = 1e-5
) -> Any:
    dims = list(range(input.rank - len(normalized_shape), input.rank))
    dtype = input.dtype
    wide = g.cast(input, np.float32) if dtype.itemsize < 4 else input
    mean = reduce(g, "ReduceMean", g.op("Mul", wide, wide), dims, True)
    result = g.op("Div", wide, g.op("Sqrt", g.op("Add", mean, g.like(eps, mean))))
    if weight is not None:
        result = g.op("Mul", result, g.cast(weight, wide.dtype))
    return g.cast(result, dtype)


def opset_23(
    g: Any, input: Any, weight: Any = None, normalized_shape: Any = (), eps: float = 1e-5
) -> Any:
    first = input.rank - len(normalized_shape)
    if weight is None:
        sizes = g.result_axes[0][first:]
        if not all(size.is_static for size in sizes):
            return opset_7(g, input, None, normalized_shape, eps)
        weight = g.constant(np.ones([size.value for size in sizes], input.dtype))
    return g.op("RMSNormalization", input, weight, axis=first - input.rank, epsilon=eps)


def reference(
    input: np.ndarray,
    weight: np.ndarray | None = None,
    normalized_shape: Any = (),
    eps: float | None = None,
) -> np.ndarray:
    x = np.asarray(input, np.float64)
    count = 1 if isinstance(normalized_shape, int) else len(normalized_shape)
    trail = tuple(range(x.ndim - count, x.ndim))
    mean = (x**2).sum(trail, keepdims=True) / np.float64(math.prod(x.shape[-count:]))
    small = np.finfo(input.dtype).eps if eps is None else eps
    return x / np.sqrt(mean + small) * (1 if weight is None else weight)


def _call(*tensors: Any, normalized_shape: Any, **rest: Any) -> Tensor:
    return rms_norm(tensors[0], normalized_shape, *tensors[1:], **rest)


CASES = (
    Case((("batch", "time", 6), In((6,), constant=True)), {"normalized_shape": 6, "eps": 1e-5},
         call=_call, reference=reference),
    Case((("batch", 3, 4), In((3, 4), constant=True)), {"normalized_shape": (3, 4)},
         call=_call, reference=reference, name="two axes"),
    Case((("batch", 5),), {"normalized_shape": 5}, call=_call, reference=reference,
         name="no weight"),
)  # fmt: skip

OPERATOR = Operator(
    "rms_norm",
    declaration=rms_norm,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7, 23: opset_23},
    reads="i",
    size_attributes=("normalized_shape",),
    cases=CASES,
)
