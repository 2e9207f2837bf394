"""The lower and the upper triangle of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes, as_extent
from onemodel.axes.size import strip_sizes
from onemodel.kernels import trilu as kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators._sizes import shape_argument
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor

# What ONNX Runtime computes triangles of; other integers go through int64.
_COMPUTED = ("float32", "float64", "int64", "bool", "float16", "bfloat16")


def tril(input: Tensor, diagonal: Any = 0) -> Tensor:
    """The last two axes on and below ``diagonal`` (0: the main one, positive: above), else 0.

    ``diagonal`` may be a size of a traced tensor. Raises ValueError for fewer than two axes.
    Source: ``torch.tril``; ONNX Trilu-14 (Where below).
    """
    return apply(OPERATOR, _matrix("tril", input), _attributes("tril", diagonal))


def triu(input: Tensor, diagonal: Any = 0) -> Tensor:
    """The last two axes on and above ``diagonal``, else 0; see :func:`tril`.

    Source: ``torch.triu``; ONNX Trilu-14 (Where below).
    """
    return apply(UPPER, _matrix("triu", input), _attributes("triu", diagonal))


def _matrix(operator: str, input: Any) -> tuple[Tensor]:
    tensor = as_tensor(operator, "input", input)
    if tensor.ndim < 2:
        raise ValueError(f"{operator}: expected at least two axes, not {tensor.ndim}")
    return (tensor,)


def _attributes(operator: str, diagonal: Any) -> dict[str, Any]:
    (offset,) = shape_argument(operator, (diagonal,))
    return {"diagonal": offset}


def _parts(upper: int) -> tuple[Callable[..., Any], Callable[..., Any], dict[int, Any]]:
    """Forward, gradient and symbolic functions of one of the two triangles."""

    def forward(input: np.ndarray, *, diagonal: int) -> np.ndarray:
        return kernel.fast(input, np.asarray(diagonal), upper=upper)

    def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
        offset = strip_sizes(record.attributes["diagonal"])
        return kernel.fast(grad, np.asarray(offset), upper=upper)

    def opset_14(g: Any, input: Any, diagonal: Any) -> Any:
        offset = as_extent(diagonal)
        if offset.is_static:
            k = g.constant(np.asarray(offset.value, np.int64)) if offset != 0 else None
        else:
            k = g.scalar(offset)
        if input.dtype.name in _COMPUTED:
            return g.op("Trilu", input, k, upper=upper)
        wide = g.op("Trilu", g.cast(input, np.int64), k, upper=upper)
        return g.cast(wide, input.dtype)

    def opset_7(g: Any, input: Any, diagonal: Any) -> Any:
        sizes = [as_extent(size) for size in (*input.shape[-2:], diagonal)]
        if all(size.is_static for size in sizes):
            rows, columns, offset = (size.value for size in sizes)
            keep = g.constant(kernel.fast(np.ones((rows, columns), bool), np.asarray(offset),
                                          upper=upper))  # fmt: skip
        else:
            g.refuse_below(11, "a triangle of symbolic size (Range)")
            keep = _write_keep(g, sizes, upper)
        if input.dtype == np.bool_:
            return g.op("And", keep, input)
        g.refuse_below(9, "a triangle (Where)")
        return g.op("Where", keep, input, g.like(0, input))

    return forward, backward, {7: opset_7, 14: opset_14}


def _write_keep(g: Any, sizes: list[Any], upper: int) -> Any:
    """Where column - row is on the wanted side of the diagonal."""
    one, zero = (g.constant(np.asarray(n, np.int64)) for n in (1, 0))
    rows, columns, offset = map(g.scalar, sizes)
    row = helpers.unsqueeze(g, g.op("Range", zero, rows, one), [1])
    column = g.op("Range", zero, columns, one)
    limit = g.op("Add", row, offset)
    outside = g.op("Less" if upper else "Greater", column, limit)
    return g.op("Not", outside)


def axes(input: Axes, *, diagonal: Any) -> Axes:
    return input


def _lower_reference(input: np.ndarray, diagonal: int = 0) -> np.ndarray:
    return np.tril(input, diagonal)


def _upper_reference(input: np.ndarray, diagonal: int = 0) -> np.ndarray:
    return np.triu(input, diagonal)


def _cases(reference: Callable[..., Any], name: str) -> tuple[Case, ...]:
    return (
        Case((("batch", 4, 3),), {"diagonal": 1}, reference=reference, lowest=9),
        Case((("time", "time"),), reference=reference, lowest=11, name="symbolic size"),
        Case((In((4, 4), "bool"),), {"diagonal": -1}, reference=reference, name="bool"),
        Case((In((4, 4), "int32", -9, 9),), reference=reference, lowest=9, name="integers"),
        Case(
            ((3, 8), ("batch", 2)),
            call=lambda x, y: getattr(x, name)(y.shape[0] - 3),
            reference=lambda x, y: reference(x, len(y) - 3),
            gradient=False,
            lowest=11,
            name="a symbolic diagonal",
        ),
    )


_forward, _backward, _symbolic = _parts(0)

OPERATOR = Operator(
    "tril",
    declaration=tril,
    forward=_forward,
    backward=_backward,
    axes=axes,
    symbolic=_symbolic,
    methods=("tril",),
    inplace=("tril_",),
    reads="",
    size_attributes=("diagonal",),
    cases=_cases(_lower_reference, "tril"),
)

_forward, _backward, _symbolic = _parts(1)

UPPER = Operator(
    "triu",
    declaration=triu,
    forward=_forward,
    backward=_backward,
    axes=axes,
    symbolic=_symbolic,
    methods=("triu",),
    inplace=("triu_",),
    reads="",
    size_attributes=("diagonal",),
    cases=_cases(_upper_reference, "triu"),
)

ALSO = (UPPER,)
