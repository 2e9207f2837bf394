"""What ``x[...]`` means: an index as entries for views and as tensors for look-ups."""

from __future__ import annotations

import operator as python_operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onemodel.axes.size import Size, strip_sizes
from onemodel.operators._operator import Refusal
from onemodel.operators.stack import stack
from onemodel.operators.to import to_index
from onemodel.tensors.tensor import Tensor

Entry: TypeAlias = "int | Size | tuple[Any, Any, int] | None"
"""One axis picked, one axis cut (start, stop, step), or a new axis."""

WHOLE = (None, None, 1)
"""The entry of an axis that stays as it is."""

MASK_REFUSAL = Refusal(
    "OM110",
    "how many elements a boolean mask picks depends on its values, so that the result has no size",
    (
        ("choose element by element", "om.where(mask, x, 0)"),
        ("count or reduce what the mask picks", "om.where(mask, x, 0).sum() / mask.sum()"),
    ),
)


@dataclass(frozen=True)
class Index:
    """An index in normal form.

    ``entries`` covers every axis of the tensor once, axes of look-ups by :data:`WHOLE`.
    ``tensors`` holds the look-ups: position in ``entries`` and a tensor of integers or, over
    as many axes as it has itself, of bool.
    """

    entries: tuple[Entry, ...]
    tensors: tuple[tuple[int, Tensor], ...]

    @property
    def only_whole(self) -> bool:
        """Whether the entries leave the tensor as it is."""
        return all(isinstance(e, tuple) and e == WHOLE for e in self.entries)


_PLAIN = frozenset({int, type(None)})


def basic(index: Any) -> tuple[Any, ...] | None:
    """``index`` as NumPy takes it for a view, where it holds nothing but plain numbers.

    With one Ellipsis or more, so that a single element is a view, too. None where it holds
    tensors, sizes, or whatever else :func:`parse` understands or refuses.
    """
    items = index if type(index) is tuple else (index,)
    dots = False
    for item in items:
        if type(item) is slice:
            if not (
                type(item.start) in _PLAIN
                and type(item.stop) in _PLAIN
                and type(item.step) in _PLAIN
            ):
                return None
        elif item is Ellipsis:
            dots = True
        elif type(item) not in _PLAIN:
            return None
    return items if dots else (*items, Ellipsis)


def basic_entries(items: tuple[Any, ...], rank: int) -> tuple[Entry, ...]:
    """The normal form of what :func:`basic` gave, for a tensor that it fits."""
    taken = sum([item is not None and item is not Ellipsis for item in items])
    entries: list[Entry] = []
    for item in items:
        if item is Ellipsis:
            entries.extend([WHOLE] * (rank - taken))
        elif type(item) is slice:
            entries.append((item.start, item.stop, 1 if item.step is None else item.step))
        else:
            entries.append(item)
    return tuple(entries)


def parse(index: Any, input: Tensor) -> Index:
    """``index`` as written in ``input[index]``, in normal form.

    Raises IndexError for too many entries, two Ellipses or entries that are no index.
    """
    items = list(index) if isinstance(index, tuple) else [index]
    items = [_item(item, input) for item in items]
    rank = input._array.ndim
    taken = sum(_width(item) for item in items)
    if taken > rank:
        raise IndexError(f"getitem: {taken} indices are too many for a tensor of {rank} dimensions")
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("getitem: an index can hold one Ellipsis")
    place = dots[0] if dots else len(items)
    items[place : place + 1] = [slice(None)] * (rank - taken)
    entries: list[Entry] = []
    tensors: list[tuple[int, Tensor]] = []
    for item in items:
        if isinstance(item, Tensor):
            tensors.append((len(entries), item))
            entries.extend([WHOLE] * _width(item))
        elif isinstance(item, slice):
            entries.append(_cut(item))
        else:
            entries.append(item)
    return Index(tuple(entries), tuple(tensors))


def _width(item: Any) -> int:
    """How many axes an item covers."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, Tensor) and item._array.dtype == np.bool_:
        return item._array.ndim
    return 1


def _item(item: Any, input: Tensor) -> Any:
    """One item: None, Ellipsis, a slice, an integer, a size, or a tensor for a look-up."""
    if item is None or item is Ellipsis or isinstance(item, (slice, Size)):
        return item
    if isinstance(item, (bool, np.bool_)):
        raise IndexError("getitem: a single bool is no index; write None for a new axis")
    if isinstance(item, (list, range)):
        holds_tensors = any(isinstance(part, Tensor) for part in item)
        item = stack(list(item)) if holds_tensors else np.asarray(item)
        if item.size == 0 and isinstance(item, np.ndarray):
            item = item.astype(np.int64)
    if isinstance(item, np.ndarray):
        item = Tensor(item)
    if isinstance(item, Tensor):
        return _tensor_item(item, input)
    try:
        return python_operator.index(item)
    except TypeError:
        raise IndexError(
            f"getitem: an index must be an integer, a slice, None, Ellipsis or a tensor of "
            f"integers or bool, not {type(item).__name__}"
        ) from None


def _tensor_item(item: Tensor, input: Tensor) -> Any:
    array = item._array
    if array.dtype == np.bool_:
        if array.ndim == 0:
            raise IndexError("getitem: a 0-d bool tensor is no index")
        return item
    if array.dtype.kind not in "iu":
        raise IndexError(f"getitem: a tensor of {array.dtype} is no index; convert it to int64")
    if array.ndim == 0 and item._mark is None and input._mark is None:
        return int(array)  # one known integer: a view
    return to_index(item)


def _cut(item: slice) -> tuple[Any, Any, int]:
    step = 1 if item.step is None else python_operator.index(item.step)
    if step == 0:
        raise ValueError("getitem: a slice step cannot be zero")
    return (_bound(item.start), _bound(item.stop), step)


def _bound(bound: Any) -> Any:
    if bound is None or isinstance(bound, Size):
        return bound
    return python_operator.index(bound)


def numpy_entries(entries: Sequence[Any]) -> tuple[Any, ...]:
    """Entries (sizes stripped) as NumPy takes them, closed by an Ellipsis so that views stay."""
    parts = (slice(*entry) if isinstance(entry, tuple) else entry for entry in entries)
    return (*parts, Ellipsis)


def mask_indices(mask: Tensor, input: Tensor, place: int) -> list[Tensor]:
    """Where ``mask`` is True, one index per axis it covers, from axis ``place`` of ``input``.

    Raises IndexError where its shape is not that of these axes; TraceException where the
    number of elements would depend on traced values or on a symbolic size.
    """
    shape = mask._array.shape
    covered = input.shape[place : place + len(shape)]
    if mask._mark is not None:
        mask._mark.on_refuse("getitem", MASK_REFUSAL)
    if input._mark is not None and any(isinstance(size, Size) for size in covered):
        input._mark.on_refuse("getitem", MASK_REFUSAL)
    found = input._array.shape[place : place + len(shape)]
    if shape != found:
        raise IndexError(
            f"getitem: a mask of shape {list(shape)} does not fit the axes {list(found)}"
        )
    return [Tensor(indices) for indices in mask._array.nonzero()]


def numpy_index(index: Index) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The index as NumPy takes it: first the view, then the look-ups in that view."""
    view = numpy_entries(strip_sizes(index.entries))
    look_ups: list[Any] = []
    tensors = dict(index.tensors)
    masked = 0
    for place, entry in enumerate(index.entries):
        if place in tensors:
            array = tensors[place]._array
            masked = array.ndim - 1 if array.dtype == np.bool_ else 0
            look_ups.append(array)
        elif masked:
            masked -= 1  # an axis that a mask before it covers
        elif entry is None or isinstance(entry, tuple):
            look_ups.append(slice(None))
    return view, (*look_ups, Ellipsis)
