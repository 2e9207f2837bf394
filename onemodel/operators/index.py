"""Look-up by tensors of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes
from onemodel.kernels import gather as gather_kernel
from onemodel.operators._case import Case, In
from onemodel.operators._operator import Operator, apply
from onemodel.operators._promote import as_tensor
from onemodel.operators.expand import write_expand
from onemodel.operators.to import to_index
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor


def index(input: Tensor, indices: Sequence[Any]) -> Tensor:
    """``input[indices]`` with one integer tensor per axis, None for an axis taken whole.

    The integer tensors broadcast; their axes stand where the indexed axes stood if these are
    neighbours, else in front. Negative indices count from the end. Raises IndexError for an
    index out of range. Source: ``aten::index``, NumPy's advanced indexing; ONNX Gather-1,
    GatherND-11.
    """
    input = as_tensor("index", "input", input)
    if len(indices) > input.ndim:
        raise IndexError(f"index: {len(indices)} indices for {input.ndim} axes")
    dims = tuple(dim for dim, item in enumerate(indices) if item is not None)
    tensors = [as_tensor("index", "indices", indices[dim]) for dim in dims]
    return look_up(input, tensors, dims)


def look_up(input: Tensor, indices: Sequence[Tensor], dims: tuple[int, ...]) -> Tensor:
    """``input`` at integer tensors along the axes ``dims``."""
    for tensor in indices:
        if tensor._array.dtype.kind not in "iu":
            raise IndexError(f"index: a tensor of {tensor._array.dtype} is no index")
    if not dims:
        return input
    return apply(OPERATOR, (input, *map(to_index, indices)), {"dims": dims})


def numpy_index(indices: Sequence[np.ndarray], dims: tuple[int, ...]) -> tuple[Any, ...]:
    """The index of NumPy for integer arrays along ``dims``."""
    entries: list[Any] = [slice(None)] * (dims[-1] + 1)
    for dim, array in zip(dims, indices, strict=True):
        entries[dim] = array
    return tuple(entries)


def forward(input: np.ndarray, *indices: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    if len(dims) == 1:
        return gather_kernel.fast(input, indices[0], axis=dims[0])
    return input[numpy_index(indices, dims)]


def backward(record: BackwardRecord, grad: np.ndarray) -> tuple[Any, ...]:
    result = np.zeros(record.shapes[0], grad.dtype)
    np.add.at(result, numpy_index(record.arrays[1:], record.attributes["dims"]), grad)
    return (result, *[None] * (len(record.shapes) - 1))


def are_neighbours(dims: tuple[int, ...]) -> bool:
    return dims[-1] - dims[0] == len(dims) - 1


def axes(input: Axes, *indices: Axes, dims: tuple[int, ...]) -> Axes:
    found = rules.broadcast(*indices)
    rest = tuple(size for dim, size in enumerate(input) if dim not in dims)
    place = dims[0] if are_neighbours(dims) else 0
    return (*rest[:place], *found, *rest[place:])


def opset_7(g: Any, input: Any, indices: Any, dims: tuple[int, ...]) -> Any:
    if len(dims) == 1:
        (position,) = indices
        return g.op("Gather", input, position, axis=dims[0])
    g.refuse_below(11, "indexing several axes at once (GatherND)")
    shape = rules.broadcast(*(position.shape for position in indices))
    parts = [
        helpers.unsqueeze(g, write_expand(g, position, position.shape, shape), [len(shape)])
        for position in indices
    ]
    rest = [dim for dim in range(input.rank) if dim not in dims]
    order = [*dims, *rest]
    data = input if order == sorted(order) else g.op("Transpose", input, perm=order)
    result = g.op("GatherND", data, g.op("Concat", *parts, axis=len(shape)))
    before = dims[0] if are_neighbours(dims) else 0
    if not before:
        return result
    count = len(shape)
    moved = [
        *range(count, count + before),
        *range(count),
        *range(count + before, count + len(rest)),
    ]
    return g.op("Transpose", result, perm=moved)


def _integers(high: int) -> Any:
    def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return generator.integers(-high, high, shape)

    return draw


def _at(shape: tuple[int | str, ...], high: int) -> In:
    """An input of indices from ``-high`` to ``high - 1``."""
    return In(shape, "int64", values=_integers(high), gradient=False)


CASES = (
    Case((("batch", 5, 3), _at((4,), 5)), call=lambda x, i: x[:, i],
         reference=lambda x, i: x[:, i]),
    Case(((5, 3), _at(("batch", 2), 5)), call=lambda x, i: x[i],
         reference=lambda x, i: x[i], name="a table"),
    Case(((5, "batch"), _at((), 5)), call=lambda x, i: x[i], reference=lambda x, i: x[i],
         name="0-d index"),
    Case(((4, 5, "width"), _at(("batch",), 4), _at(("batch",), 5)), lowest=11,
         call=lambda x, i, j: x[i, j], reference=lambda x, i, j: x[i, j], name="two axes"),
    Case(((2, 4, 5, 3), _at(("batch", 1), 4), _at((2,), 5)), lowest=11,
         call=lambda x, i, j: x[:, i, j], reference=lambda x, i, j: x[:, i, j],
         name="neighbours that broadcast"),
    Case(((4, 3, 5), _at(("batch",), 4), _at(("batch",), 5)), lowest=11,
         call=lambda x, i, j: x[i, :, j], reference=lambda x, i, j: x[i, :, j],
         name="axes apart"),
    Case((("batch", 5),), call=lambda x: x[:, [0, -1, 2]], reference=lambda x: x[:, [0, -1, 2]],
         name="a list"),
)  # fmt: skip

OPERATOR = Operator(
    "index",
    declaration=index,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    reads="i",
    cases=CASES,
)
