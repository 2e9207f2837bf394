"""Product over axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.kernels import reduce_prod as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dims
from onemodel.operators._reduction import reduce_axes, spread
from onemodel.operators.to import to
from onemodel.symbolic.helpers import reduce
from onemodel.tensors.dtypes import category, int64
from onemodel.tensors.tensor import Tensor


def prod(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Product over ``dim`` (one axis, several, or all); 1 over no elements.

    Shape: the reduced axes are dropped, or kept with size 1. bool and integers are multiplied
    as int64. Raises IndexError for an axis out of range. Source: ``torch.prod``;
    ONNX ReduceProd-1.
    """
    input = as_tensor("prod", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    elif category(input._array.dtype) < 2:
        input = to(input, int64)
    dims = normalize_dims("prod", dim, input.ndim)
    return apply(OPERATOR, (input,), {"dim": dims, "keepdim": bool(keepdim)})


def forward(input: np.ndarray, *, dim: tuple[int, ...], keepdim: bool) -> np.ndarray:
    if not dim:
        return input.copy()
    return kernel.fast(input, np.asarray(dim, np.int64), keepdims=int(keepdim))


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    # The product of all others, from both ends: dividing by the element fails where it is 0.
    dim, x = record.attributes["dim"], record.arrays[0]
    rest = tuple(axis for axis in range(x.ndim) if axis not in dim)
    order = (*rest, *dim)
    flat = x.transpose(order).reshape(*(x.shape[axis] for axis in rest), -1)
    ones = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([ones, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    others = (before * after)[..., : flat.shape[-1]].reshape([x.shape[axis] for axis in order])
    gradient = spread(grad, dim, record.attributes["keepdim"])
    return gradient * others.transpose(np.argsort(order)) if order else grad


def opset_7(g: Any, input: Any, dim: tuple[int, ...], keepdim: bool) -> Any:
    return reduce(g, "ReduceProd", input, dim, keepdim)


def reference(input: np.ndarray, dim: Any = None, keepdim: bool = False) -> np.ndarray:
    wide = np.asarray(input, np.float64 if input.dtype.kind == "f" else np.int64)
    return wide.prod(axis=dim, keepdims=keepdim)


def _with_zeros(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([0.0, 1.5, -2.0], shape)


CASES = (
    Case((("batch", 3),), reference=reference),
    Case((("batch", 3, 2),), {"dim": 1}, reference=reference, name="one axis"),
    Case((("batch", 3, 2),), {"dim": -1, "keepdim": True}, reference=reference, name="keepdim"),
    Case((In(("batch", 3), values=_with_zeros),), {"dim": 1}, reference=reference, name="zeros"),
    Case((In(("batch", 3), "int32", -3, 4),), {"dim": 1}, reference=reference, name="integers"),
)

OPERATOR = Operator(
    "prod",
    declaration=prod,
    forward=forward,
    backward=backward,
    axes=reduce_axes,
    symbolic={7: opset_7},
    methods=("prod",),
    reads="i",
    cases=CASES,
)
