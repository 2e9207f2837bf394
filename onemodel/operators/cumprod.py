"""Running products along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import as_extent
from onemodel.kernels import cum_prod as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._elementwise import less_equal, same_axes
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators.to import to
from onemodel.symbolic.helpers import reduce, unsqueeze
from onemodel.tensors.dtypes import category, int64
from onemodel.tensors.tensor import Tensor


def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Products of the elements up to each one along ``dim``.

    Shape as the input's; bool and integers are multiplied as int64. Raises IndexError for an
    axis out of range. Source: ``torch.cumprod``; ONNX ReduceProd-1 over masked copies.
    """
    input = as_tensor("cumprod", "input", input)
    if dtype is not None:
        input = to(input, dtype)
    elif category(input._array.dtype) < 2:
        input = to(input, int64)
    return apply(OPERATOR, (input,), {"dim": normalize_dim("cumprod", dim, input.ndim)})


def forward(input: np.ndarray, *, dim: int) -> np.ndarray:
    return kernel.fast(input, dim) if input.ndim else input.copy()


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    # d y_j / d x_i is the product of the first j elements without x_i: no division, so that
    # zeros are no special case.
    x, dim = record.arrays[0], record.attributes["dim"]
    if x.ndim == 0:
        return grad
    x, grad = np.moveaxis(x, dim, -1), np.moveaxis(grad, dim, -1)
    result = np.zeros_like(grad)
    for i in range(x.shape[-1]):
        others = np.array(x[..., : x.shape[-1]])
        others[..., i] = 1
        result[..., i] = (np.cumprod(others, axis=-1) * grad)[..., i:].sum(axis=-1)
    return np.moveaxis(result, -1, dim)


def opset_7(g: Any, input: Any, dim: int) -> Any:
    # CumProd came at 26 only. One copy of the axis per element, with 1 behind the element.
    rank = input.rank
    if rank == 0:
        return g.op("Identity", input)
    g.refuse_below(9, "running products (Where)")
    size = as_extent(input.shape[dim])
    if size.is_static:
        keep = g.constant(np.tri(size.value, dtype=bool))
    else:
        g.refuse_below(11, "running products along a symbolic axis (Range)")
        bounds = (g.constant(np.asarray(0)), g.scalar(size))
        steps = g.op("Range", *bounds, g.constant(np.asarray(1)))
        keep = less_equal(g, unsqueeze(g, steps, [0]), unsqueeze(g, steps, [1]))
    if rank - dim - 1:
        keep = unsqueeze(g, keep, list(range(2, rank - dim + 1)))
    copies = unsqueeze(g, input, [dim])
    masked = g.op("Where", keep, copies, g.like(1, input))
    return reduce(g, "ReduceProd", masked, (dim + 1,), False)


def reference(input: np.ndarray, dim: int) -> np.ndarray:
    wide = np.asarray(input, np.float64 if input.dtype.kind == "f" else np.int64)
    return np.cumprod(wide, axis=dim)


def _with_zeros(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.choice([0.0, 1.5, -2.0], shape)


CASES = (
    Case((("batch", 3),), {"dim": 1}, reference=reference, lowest=9),
    Case((("batch", 3, 2),), {"dim": 0}, reference=reference, lowest=11, name="symbolic axis"),
    Case(
        (In((2, 4, 3), values=_with_zeros),),
        {"dim": 1},
        reference=reference,
        lowest=9,
        name="zeros",
    ),
    Case(
        (In(("batch", 3), "int32", -3, 4),),
        {"dim": -1},
        reference=reference,
        lowest=9,
        name="integers",
    ),
)

OPERATOR = Operator(
    "cumprod",
    declaration=cumprod,
    forward=forward,
    backward=backward,
    axes=same_axes,
    symbolic={7: opset_7},
    methods=("cumprod",),
    inplace=("cumprod_",),
    reads="i",
    cases=CASES,
)
