"""Values written at integer tensors, as a new tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.operators import index as _index
from onemodel.operators._case import Case, In
from onemodel.operators._indexing import mask_indices
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor, operand, unbroadcast
from onemodel.operators.expand import write_expand
from onemodel.operators.gather import index_tensor
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def index_put(
    input: Tensor, indices: Sequence[Any], values: Any, accumulate: bool = False
) -> Tensor:
    """A copy of ``input`` with ``result[indices] = values``, or ``+=`` with ``accumulate``.

    ``indices``: per axis an integer tensor or None, or a tensor of bool over several axes
    (not in a trace); ``values`` broadcasts to what :func:`index` gives and takes the dtype of
    ``input``. Where indices repeat the last value stands, or all are added. Raises IndexError
    for an index out of range. Source: ``torch.index_put``; ONNX ScatterND-11 (16 to
    accumulate).
    """
    input = as_tensor("index_put", "input", input)
    tensors: list[Tensor] = []
    dims: list[int] = []
    dim = 0
    for item in indices:
        if item is None:
            dim += 1
            continue
        tensor = as_tensor("index_put", "indices", item)
        if tensor._array.dtype == np.bool_:
            found = mask_indices(tensor, input, dim)
        else:
            found = [index_tensor("index_put", tensor)]
        tensors += found
        dims += range(dim, dim + len(found))
        dim += len(found)
    if dim > input.ndim or not tensors:
        raise IndexError(f"index_put: expected 1 to {input.ndim} indices, not {dim}")
    source = operand(values, input._array.dtype)
    attributes = {"dims": tuple(dims), "accumulate": bool(accumulate)}
    return apply(OPERATOR, (input, source, *tensors), attributes)


def forward(
    input: np.ndarray, values: np.ndarray, *indices: np.ndarray, dims: tuple[int, ...],
    accumulate: bool,
) -> np.ndarray:  # fmt: skip
    result = input.copy()
    place = _index.numpy_index(indices, dims)
    if accumulate:
        np.add.at(result, place, values)
    else:
        result[place] = values
    return result


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, ...]:
    place = _index.numpy_index(record.arrays[2:], record.attributes["dims"])
    sent = grad[place]
    kept = grad
    if not record.attributes["accumulate"]:
        kept = grad.copy()
        kept[place] = 0
        order = np.arange(sent.size).reshape(sent.shape)
        last = np.zeros(grad.shape, np.int64)
        last[place] = order
        sent = np.where(last[place] == order, sent, 0)
    return (kept, unbroadcast(sent, record.shapes[1]), *[None] * (len(record.shapes) - 2))


def axes(
    input: Axes, values: Axes, *indices: Axes, dims: tuple[int, ...], accumulate: bool
) -> Axes:
    rules.expand(values, _index.axes(input, *indices, dims=dims))
    return input


def opset_11(
    g: Any, input: Any, values: Any, indices: Any, dims: tuple[int, ...], accumulate: bool
) -> Any:
    if accumulate:
        g.refuse_below(16, "adding at indices (ScatterND)")
    shape = rules.broadcast(*(position.shape for position in indices))
    parts = [
        helpers.unsqueeze(g, write_expand(g, position, position.shape, shape), [len(shape)])
        for position in indices
    ]
    places = parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=len(shape))
    target = _index.axes(input.shape, *(position.shape for position in indices), dims=dims)
    updates = write_expand(g, values, values.shape, target)
    rest = [dim for dim in range(input.rank) if dim not in dims]
    before = dims[0] if _index.are_neighbours(dims) else 0
    if before:
        count = len(shape)
        order = [
            *range(before, before + count),
            *range(before),
            *range(before + count, len(target)),
        ]
        updates = g.op("Transpose", updates, perm=order)
    order = [*dims, *rest]
    moved = order != sorted(order)
    data = g.op("Transpose", input, perm=order) if moved else input
    reduction = {"reduction": "add"} if accumulate else {}
    result = g.op("ScatterND", data, places, updates, **reduction)
    if not moved:
        return result
    return g.op("Transpose", result, perm=[order.index(dim) for dim in range(input.rank)])


def reference(
    input: np.ndarray, values: np.ndarray, *indices: np.ndarray, dims: tuple[int, ...],
    accumulate: bool = False,
) -> np.ndarray:  # fmt: skip
    place: list[Any] = [slice(None)] * (max(dims) + 1)
    for dim, index in zip(dims, indices, strict=True):
        place[dim] = index
    result = input.copy()
    if accumulate:
        np.add.at(result, tuple(place), values)
    else:
        result[tuple(place)] = values
    return result


def _call(
    input: Any, values: Any, *indices: Any, dims: tuple[int, ...], accumulate: bool = False
) -> Tensor:
    given = [None] * (max(dims) + 1)
    for dim, index in zip(dims, indices, strict=True):
        given[dim] = index
    return index_put(input, given, values, accumulate)


def _case(name: str, *inputs: Any, lowest: int = 11, **attributes: Any) -> Case:
    return Case(inputs, attributes, call=_call, reference=reference, lowest=lowest, name=name)


def _distinct(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return generator.permutation(5)[: shape[0]]


_AT = {"dtype": "int64", "low": 0, "high": 5, "gradient": False}
_ONCE = {"dtype": "int64", "values": _distinct, "gradient": False}

CASES = (
    _case("rows", (5, "width"), (3, "width"), In((3,), **_ONCE), dims=(0,)),
    _case("a middle axis", ("batch", 5, 3), (3,), In((2,), **_ONCE), dims=(1,)),
    _case("two axes", (5, "width", 5), (), In((3,), **_ONCE), In((3,), **_ONCE), dims=(0, 2)),
    _case("adding", (5, "width"), ("count", "width"), In(("count",), **_AT), dims=(0,),
          accumulate=True, lowest=16),
    _case("adding along neighbours", (2, 5, 5), (), In(("count",), **_AT), In(("count",), **_AT),
          dims=(1, 2), accumulate=True, lowest=16),
)  # fmt: skip

OPERATOR = Operator(
    "index_put",
    declaration=index_put,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={11: opset_11},
    methods=("index_put",),
    inplace=("index_put_",),
    reads="i",
    cases=CASES,
)
