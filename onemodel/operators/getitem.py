"""``x[...]``: views by integers, slices, None and Ellipsis; look-ups by tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from onemodel.autograd.record import BackwardRecord
from onemodel.axes import rules
from onemodel.axes.extent import Axes, Extent, as_extent
from onemodel.axes.size import extent_of, plain, strip_sizes
from onemodel.operators._case import Case
from onemodel.operators._indexing import (
    Index,
    basic,
    basic_entries,
    mask_indices,
    numpy_entries,
    parse,
)
from onemodel.operators._operator import Composite, Operator, apply_view, keep, view_of
from onemodel.operators._promote import as_tensor, normalize_dim
from onemodel.operators._sizes import shape_argument
from onemodel.operators.index import look_up
from onemodel.symbolic import helpers
from onemodel.tensors.tensor import Tensor

_FAR = np.iinfo(np.int64).max
_UNCUT = (0, None, 1)


def getitem(input: Tensor, index: Any) -> Tensor:
    """``input[index]``: part of a tensor.

    ``index``: integers, slices with any step, None and Ellipsis give a view; bounds may be
    sizes of traced tensors. Tensors, arrays and lists of integers look elements up (integers
    beside them are applied first, as in PyTorch); tensors of bool pick where they are True,
    which cannot be traced. Raises IndexError for an index out of range or of another type.
    Source: NumPy's indexing; ONNX Slice-1, Gather-1, Squeeze-1, Unsqueeze-1.
    """
    input = as_tensor("getitem", "input", input)
    found = _basic_view(input, index)
    if found is not None:
        return found
    if _picks_rows(index, input):
        return look_up(input, [index], (0,))
    parsed = parse(index, input)
    if not parsed.tensors:
        return apply_view(OPERATOR, input, {"index": parsed.entries})
    return _with_tensors(input, parsed)


def _basic_view(input: Tensor, index: Any) -> Tensor | None:
    """``input[index]`` for plain numbers, slices, None and Ellipsis; None for all the rest.

    What does not fit is left to the long way, too, which finds the words for it.
    """
    items = basic(index)
    if items is None:
        return None
    try:
        view = view_of(input, input._own_elements()[items])
    except (IndexError, ValueError):
        return None
    if input._tracked:
        keep(OPERATOR, (input,), {"index": basic_entries(items, input._array.ndim)}, (view,))
    return view


def _picks_rows(index: Any, input: Tensor) -> bool:
    """Whether ``index`` is one tensor of integers, the commonest look-up."""
    if not isinstance(index, Tensor) or index._array.dtype.kind not in "iu":
        return False
    return index._array.ndim > 0 and input._array.ndim > 0


def _with_tensors(input: Tensor, index: Index) -> Tensor:
    """First the view, then each 0-d look-up alone, then the others together."""
    view = input if index.only_whole else apply_view(OPERATOR, input, {"index": index.entries})
    indices: list[Tensor] = []
    dims: list[int] = []
    dropped = 0
    for position, tensor in index.tensors:
        before = index.entries[:position]
        # Axes that an integer picked are gone, as are those of 0-d look-ups.
        place = sum(entry is None or isinstance(entry, tuple) for entry in before) - dropped
        if tensor._array.dtype == np.bool_:
            found = mask_indices(tensor, view, place)
            indices += found
            dims += range(place, place + len(found))
        elif tensor._array.ndim == 0:
            view = look_up(view, [tensor], (place,))
            dropped += 1
        else:
            indices.append(tensor)
            dims.append(place)
    return look_up(view, indices, tuple(dims))


def forward(input: np.ndarray, *, index: tuple[Any, ...]) -> np.ndarray:
    return input[numpy_entries(index)]


def backward(record: BackwardRecord, grad: np.ndarray) -> np.ndarray:
    result = np.zeros(record.shapes[0], grad.dtype)
    result[numpy_entries(strip_sizes(record.attributes["index"]))] = grad
    return result


def axes(input: Axes, *, index: tuple[Any, ...]) -> Axes:
    result: list[Extent] = []
    dim = 0
    for entry in index:
        if entry is None:
            result.append(Extent(1))
            continue
        if isinstance(entry, tuple):
            start, stop = _bound(entry[0]), _bound(entry[1])
            result.append(rules.slice_(input, dim, start, stop, entry[2])[dim])
        dim += 1
    return tuple(result)


def _bound(bound: Any) -> Any:
    return bound if bound is None or isinstance(bound, int) else extent_of(bound)


def takes_whole(attributes: Mapping[str, Any], inputs: tuple[Axes, ...], result: Axes) -> bool:
    """Slices that run over every axis from its begin to its end leave the tensor as it is."""
    index = attributes["index"]
    return inputs[0] == result and all(isinstance(e, tuple) and e[2] == 1 for e in index)


def opset_7(g: Any, input: Any, index: tuple[Any, ...]) -> Any:
    entries = [entry for entry in index if entry is not None]
    picks = {dim: entry for dim, entry in enumerate(entries) if not isinstance(entry, tuple)}
    alone = _alone(g, picks, input.shape)
    cuts = {}
    for dim, entry in enumerate(entries):
        if isinstance(entry, int) and alone is None:
            entry = (entry, entry + 1 or None, 1)
        if isinstance(entry, tuple):
            cut = _canonical(entry, input.shape[dim])
            if cut != _UNCUT:
                cuts[dim] = cut
    result = _write_cuts(g, input, cuts)
    if alone is not None:
        (dim,) = picks
        result = g.op("Gather", result, g.constant(np.asarray(alone, np.int64)), axis=dim)
    else:
        for dim, entry in picks.items():
            if not isinstance(entry, int):
                result = g.op("Gather", result, g.size(entry), axis=dim)
        result = helpers.squeeze(g, result, list(picks))
    kept = [entry for entry in index if entry is None or isinstance(entry, tuple)]
    result = helpers.unsqueeze(g, result, [i for i, entry in enumerate(kept) if entry is None])
    return g.op("Identity", input) if result is input else result


def _alone(g: Any, picks: Mapping[int, Any], shape: Any) -> int | None:
    """The one integer, where one Gather can pick it: below 11 it takes no negative indices."""
    if len(picks) != 1:
        return None
    ((dim, entry),) = picks.items()
    if not isinstance(entry, int):
        return None
    if entry < 0 and _is_fixed(shape[dim]):
        return entry + as_extent(shape[dim]).value
    return entry if entry >= 0 or g.opset >= 11 else None


def _is_fixed(size: Any) -> bool:
    return as_extent(size).is_static


def _canonical(entry: tuple[Any, Any, int], size: Any) -> tuple[Any, Any, int]:
    """Start, end and step, clamped where the axis is fixed; an end of None is the far end."""
    start, stop, step = entry
    if _is_fixed(size) and all(bound is None or isinstance(bound, int) for bound in entry):
        length = as_extent(size).value
        first, last, step = slice(*entry).indices(length)
        at_end = last >= length if step > 0 else last < 0
        return first, None if at_end else last, step
    if start is None:
        start = 0 if step > 0 else _FAR
    if step > 0 and stop is not None and as_extent(stop) == as_extent(size):
        stop = None
    return start, stop, step


def _write_cuts(g: Any, input: Any, cuts: dict[int, tuple[Any, Any, int]]) -> Any:
    """All slices in one node; below 10, steps along fixed axes become look-ups."""
    result = input
    rest = dict(cuts)
    for dim, (start, end, step) in cuts.items():
        size = as_extent(input.shape[dim])
        fixed = size.is_static and isinstance(start, int) and not isinstance(end, Extent)
        if g.opset < 10 and step != 1 and fixed:
            far = size.value if step > 0 else -1
            stop = end if isinstance(end, int) else far
            places = g.ints(range(start, stop, step))
            result = g.op("Gather", result, places, axis=dim)
            del rest[dim]
    if not rest:
        return result
    starts, ends, steps = zip(*rest.values(), strict=True)
    return helpers.slice_(g, result, starts, ends, list(rest), steps)


def _case(name: str, cut: Callable[..., Any], *shapes: Any, **options: Any) -> Case:
    """NumPy's indexing is the reference of ours."""
    return Case(shapes, call=cut, reference=cut, name=name, **options)


CASES = (
    _case("an integer", lambda x: x[:, 1], ("batch", 3)),
    _case("a negative integer", lambda x: x[-1], ("batch", 3)),
    _case("integers", lambda x: x[0, :, -2], ("batch", 3, 4)),
    _case("a slice", lambda x: x[:, 1:3], ("batch", 4)),
    _case("bounds beyond the end", lambda x: x[:, -9:9, 2:9], ("batch", 4, 3)),
    _case("from the end of a symbolic axis", lambda x: x[:-1], ("batch", 2)),
    _case("the last of a symbolic axis", lambda x: x[-1:], ("batch", 2)),
    _case("a step", lambda x: x[:, ::2], ("batch", 5)),
    _case("a negative step", lambda x: x[:, 3:0:-2, ::-1], ("batch", 5, 3)),
    _case("a step over a symbolic axis", lambda x: x[::2], ("batch", 2), lowest=10),
    _case("a symbolic axis reversed", lambda x: x[::-1], ("batch", 2), lowest=10),
    _case("new axes", lambda x: x[None, :, None, 1], ("batch", 3)),
    _case("Ellipsis", lambda x: x[..., 0, None], ("batch", 3, 2)),
    _case("everything", lambda x: x[:, :] * 2, ("batch", 3)),
    _case("a symbolic bound", lambda x, y: x[: y.shape[0]] + y, (9, 2), ("batch", 2),
          lowest=10, gradient=False),
    _case("half of a symbolic axis", lambda x: x[: x.shape[0] // 2], ("batch", 2), lowest=10),
    _case("a symbolic integer", lambda x, y: x[y.shape[0] - 1] + y, (9, 2), ("batch", 2),
          gradient=False),
    _case("0-d result", lambda x: x[1, 2], (3, 4)),
    _case("an empty part", lambda x: x[:, 2:2], ("batch", 3)),
)  # fmt: skip

OPERATOR = Operator(
    "getitem",
    declaration=getitem,
    forward=forward,
    backward=backward,
    axes=axes,
    symbolic={7: opset_7},
    methods=("__getitem__",),
    reads="",
    size_attributes=("index",),
    view=True,
    alias=takes_whole,
    cases=CASES,
)


def select(input: Tensor, dim: int, index: Any) -> Tensor:
    """The slice ``index`` of axis ``dim``, that axis dropped; a view for an integer.

    Raises IndexError out of range. Source: ``torch.select``.
    """
    input = as_tensor("select", "input", input)
    dim = normalize_dim("select", dim, input.ndim)
    return getitem(input, (*[slice(None)] * dim, index))


def narrow(input: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    """``length`` entries of axis ``dim`` from ``start`` on (negative: from the end); a view.

    Both may be sizes of traced tensors. Raises IndexError where the part runs beyond the axis.
    Source: ``torch.narrow``.
    """
    input = as_tensor("narrow", "input", input)
    dim = normalize_dim("narrow", dim, input.ndim)
    start, length = shape_argument("narrow", (start, length))
    first, count, size = plain(start), plain(length), input._array.shape[dim]
    begin = first + size if first < 0 else first
    if count < 0 or begin < 0 or begin + count > size:
        raise IndexError(
            f"narrow: {count} entries from {first} run beyond axis {dim} of size {size}"
        )
    end: Any = start + length
    if first < 0 and first + count == 0:
        end = None
    return getitem(input, (*[slice(None)] * dim, slice(start, end)))


def slice_(
    input: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Tensor:
    """``input[start:end:step]`` along axis ``dim``; a view.

    Bounds may be sizes of traced tensors. Raises IndexError for an axis out of range. Source:
    ``aten::slice``.
    """
    input = as_tensor("slice", "input", input)
    dim = normalize_dim("slice", dim, input.ndim)
    return getitem(input, (*[slice(None)] * dim, slice(start, end, step)))


ALSO = (
    Composite("select", declaration=select, methods=("select",), cases=(
        Case((("batch", 3),), {"dim": 1, "index": -1}, reference=lambda x, dim, index: x[:, -1]),
    )),
    Composite("narrow", declaration=narrow, methods=("narrow",), cases=(
        Case((("batch", 5),), {"dim": 1, "start": 1, "length": 3},
             reference=lambda x, dim, start, length: x[:, 1:4]),
        Case((("batch", 5),), {"dim": 1, "start": -2, "length": 2},
             reference=lambda x, dim, start, length: x[:, -2:], name="from the end"),
    )),
    Composite("slice", declaration=slice_, methods=("slice",), cases=(
        Case((("batch", 5),), {"dim": 1, "start": 1, "end": -1},
             reference=lambda x, dim, start, end: x[:, 1:-1]),
    )),
)  # fmt: skip
