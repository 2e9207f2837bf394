"""Values reduced into one entry of an axis per index."""

from __future__ import annotations

from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes.extent import Axes
from onemodel.kernels.gather_elements import along_axis
from onemodel.operators import scatter as _scatter
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators.expand import write_expand
from onemodel.operators.gather import check_index
from onemodel.tensors.dtypes import is_floating
from onemodel.tensors.tensor import Tensor

_ADDING = ("sum", "mean")
_NODE_REDUCTIONS = {"sum": "add", "mean": "add", "prod": "mul", "amax": "max", "amin": "min"}
_UFUNCS = {
    "sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum,
}  # fmt: skip


def scatter_reduce(
    input: Tensor, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy of ``input`` whose entries are reduced with all of ``src`` that ``index`` sends there.

    ``reduce``: sum, prod, mean, amax or amin; without ``include_self`` the value of ``input``
    takes no part where an index points. Raises ValueError for another name, TypeError for a
    mean of integers, else as :func:`scatter`. Source: ``torch.scatter_reduce``; ONNX
    ScatterElements-16 (amax and amin 18).
    """
    if reduce not in _UFUNCS:
        raise ValueError(
            f"scatter_reduce: reduce={reduce!r}; write one of {', '.join(sorted(_UFUNCS))}"
        )
    tensors, dim = _scatter.scatter_operands("scatter_reduce", input, dim, index, src)
    if reduce == "mean" and not is_floating(tensors[0]._array.dtype):
        raise TypeError("scatter_reduce: the mean of integers is no integer; convert to float")
    attributes = {"dim": dim, "reduce": reduce, "include_self": bool(include_self)}
    return apply(OPERATOR, tensors, attributes)


def neutral(reduce: str, dtype: np.dtype) -> Any:
    """The value that changes nothing."""
    if reduce in _ADDING or dtype == np.bool_:
        return dtype.type(reduce == "amin")
    if reduce == "prod":
        return dtype.type(1)
    sign = -1 if reduce == "amax" else 1
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return dtype.type(limits.min if sign < 0 else limits.max)
    return dtype.type(sign * np.inf)


def _counts(shape: tuple[int, ...], place: Any, include_self: bool, dtype: np.dtype) -> np.ndarray:
    """How many values met at each entry; 1 where nothing was sent."""
    counts = np.ones(shape, dtype)
    if not include_self:
        counts[place] = 0
    np.add.at(counts, place, 1)
    return counts


def forward(
    input: np.ndarray, index: np.ndarray, src: np.ndarray, *, dim: int, reduce: str,
    include_self: bool,
) -> np.ndarray:  # fmt: skip
    check_index(input, index, dim)
    place = along_axis(index, dim, input.shape[dim])
    result = input.copy()
    if not include_self:
        result[place] = neutral(reduce, input.dtype)
    _UFUNCS[reduce].at(result, place, src)
    if reduce == "mean":
        result = result / _counts(input.shape, place, include_self, input.dtype)
    return result


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, None, Any]:
    input, index, src = record.arrays
    dim, reduce = record.attributes["dim"], record.attributes["reduce"]
    include = record.attributes["include_self"]
    place = along_axis(index, dim, input.shape[dim])
    if reduce == "mean":
        grad = grad / _counts(input.shape, place, include, grad.dtype)
    if reduce in _ADDING:
        to_self, to_src = grad.copy(), grad[place]
    elif reduce == "prod":
        to_self, to_src = _product_gradient(input, place, src, grad, include)
    else:
        to_self, to_src = _extremum_gradient(record.results[0], input, place, src, grad, include)
    if not include:
        to_self[place] = 0
        untouched = np.ones(input.shape, bool)
        untouched[place] = False
        to_self[untouched] = grad[untouched]
    return to_self, None, to_src


def _product_gradient(
    input: np.ndarray, place: Any, src: np.ndarray, grad: np.ndarray, include: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Each factor is given the product of the others, zeros counted apart."""
    zeros = (input == 0).astype(np.int64)
    product = np.where(input == 0, 1, input)
    if not include:
        zeros[place], product[place] = 0, 1
    np.add.at(zeros, place, src == 0)
    np.multiply.at(product, place, np.where(src == 0, 1, src))

    def others(factor: np.ndarray, total: np.ndarray, count: np.ndarray) -> np.ndarray:
        left = np.where(factor == 0, count - 1, count)
        return np.where(left == 0, total / np.where(factor == 0, 1, factor), 0)

    return (
        grad * others(input, product, zeros),
        grad[place] * others(src, product[place], zeros[place]),
    )


def _extremum_gradient(
    result: np.ndarray, input: np.ndarray, place: Any, src: np.ndarray, grad: np.ndarray,
    include: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Entries that attain the extremum share the gradient evenly."""
    own = input == result
    if not include:
        own[place] = False
    sent = src == result[place]
    ties = own.astype(grad.dtype)
    np.add.at(ties, place, sent)
    share = grad / np.maximum(ties, 1)
    return np.where(own, share, 0), np.where(sent, share[place], 0)


def axes(input: Axes, index: Axes, src: Axes, *, dim: int, reduce: str, include_self: bool) -> Axes:
    return _scatter.axes(input, index, src, dim=dim)


def opset_16(
    g: Any, input: Any, index: Any, src: Any, dim: int, reduce: str, include_self: bool
) -> Any:
    if reduce in ("amax", "amin"):
        g.refuse_below(18, f"scatter_reduce with {reduce} (ScatterElements)")
    node = {"axis": dim, "reduction": _NODE_REDUCTIONS[reduce]}
    start = input
    if not include_self:
        fill = _filled(g, neutral(reduce, input.dtype), index)
        start = g.op("ScatterElements", input, index, fill, axis=dim)
    result = g.op("ScatterElements", start, index, src, **node)
    if reduce != "mean":
        return result
    counts = _filled(g, input.dtype.type(1), input)
    if not include_self:
        counts = g.op("ScatterElements", counts, index, _filled(g, 0, index, input), axis=dim)
    counts = g.op("ScatterElements", counts, index, _filled(g, 1, index, input), **node)
    return g.op("Div", result, counts)


def _filled(g: Any, number: Any, shaped: Any, like: Any = None) -> Any:
    """A number in the shape of a value."""
    constant = g.constant(np.asarray(number)) if like is None else g.like(number, like)
    return write_expand(g, constant, (), shaped.shape)


def reference(
    input: np.ndarray, index: np.ndarray, src: np.ndarray, dim: int, reduce: str,
    include_self: bool = True,
) -> np.ndarray:  # fmt: skip
    met: dict[tuple[int, ...], list[np.ndarray]] = {}
    for place in np.ndindex(*index.shape):
        target = list(place)
        target[dim] = index[place]
        met.setdefault(tuple(target), []).append(src[place])
    functions = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}
    result = input.copy()
    for target_place, values in met.items():
        own = [input[target_place]] if include_self else []
        result[target_place] = functions[reduce](own + values)
    return result


def _call(input: Any, index: Any, src: Any, dim: int, reduce: str, **options: Any) -> Tensor:
    return scatter_reduce(input, dim, index, src, reduce, **options)


def _case(reduce: str, include_self: bool, lowest: int) -> Case:
    at = In(("batch", 7), "int64", 0, 5, gradient=False)
    return Case(
        (("batch", 5), at, ("batch", 7)),
        {"dim": 1, "reduce": reduce, "include_self": include_self},
        call=_call,
        reference=reference,
        lowest=lowest,
        name=f"{reduce} {'with' if include_self else 'without'} self",
    )


CASES = tuple(
    _case(reduce, include_self, 18 if reduce.startswith("am") else 16)
    for reduce in ("sum", "prod", "mean", "amax", "amin")
    for include_self in (True, False)
)

OPERATOR = Operator(
    "scatter_reduce",
    declaration=scatter_reduce,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={16: opset_16},
    methods=("scatter_reduce",),
    inplace=("scatter_reduce_",),
    reads="io",
    cases=CASES,
)
