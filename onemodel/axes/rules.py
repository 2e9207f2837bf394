"""Axis rules shared by operators: axes in, axes out.

Static sizes are extents too. A rule raises :class:`AxesError` where a symbolic axis cannot be
expressed; shapes that do not fit at all were refused by the eager operator before, but are refused
here as well. The rules of windows and slices are in :mod:`onemodel.axes.windows`, that of reshape
in :mod:`onemodel.axes.reshaping`; all are names of this module.
"""

from __future__ import annotations

import string
from collections.abc import Sequence

from onemodel.axes.extent import Axes, AxesError, Extent, as_extent, axes_text
from onemodel.axes.multiples import as_multiples
from onemodel.axes.reshaping import ReshapeSolution, fresh_sizes, reshape, solve_reshape
from onemodel.axes.windows import conv, conv_transpose, pad, pool, slice_

__all__ = [
    "ReshapeSolution",
    "arange",
    "broadcast",
    "chunk",
    "concat",
    "conv",
    "conv_transpose",
    "einsum",
    "embedding",
    "expand",
    "flatten",
    "fresh_sizes",
    "gather",
    "index_select",
    "matmul",
    "normalize_dim",
    "normalize_dims",
    "pad",
    "permute",
    "pool",
    "reduce",
    "repeat",
    "reshape",
    "same_extent",
    "slice_",
    "solve_reshape",
    "split_sizes",
    "squeeze",
    "stack",
    "transpose",
    "unsqueeze",
]


def normalize_dim(dim: int, rank: int) -> int:
    """``dim`` counted from the front.

    Raises:
        AxesError: where ``dim`` is out of range.
    """
    if not -rank <= dim < rank:
        raise AxesError(f"axis {dim} is out of range for {rank} axes")
    return dim % rank


def normalize_dims(dims: int | Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Distinct axes counted from the front, in the order given; None means all."""
    if dims is None:
        return tuple(range(rank))
    listed = (dims,) if isinstance(dims, int) else tuple(dims)
    result = tuple(normalize_dim(dim, rank) for dim in listed)
    if len(set(result)) != len(result):
        raise AxesError(f"an axis is named twice in {list(listed)}")
    return result


# -- agreement -------------------------------------------------------------------------------


def broadcast(*operands: Axes) -> Axes:
    """NumPy broadcasting: aligned at the right, and a static 1 stretches.

    Raises:
        AxesError: OM403 where a symbolic axis meets another extent or a static size above 1.
    """
    shaped = [axes for axes in operands if axes]
    if all(axes is shaped[0] for axes in shaped[1:]):  # a number with a tensor, or one alone
        return tuple(shaped[0]) if shaped else ()
    rank = max(map(len, operands), default=0)
    result = []
    for place in range(-rank, 0):
        size = Extent(1)
        for axes in operands:
            if len(axes) >= -place and axes[place] != 1:
                size = axes[place] if size == 1 else same_extent(size, axes[place])
        result.append(size)
    return tuple(result)


def same_extent(left: Extent, right: Extent, where: str = "broadcasting") -> Extent:
    """The extent of two axes that have to be equal at every size.

    Raises:
        AxesError: OM403 where they are not.
    """
    if left == right:
        return left
    if left.is_static and right.is_static:
        raise AxesError(f"{where} needs equal sizes, not {left} and {right}")
    if left.is_static or right.is_static:
        symbolic, static = (right, left) if left.is_static else (left, right)
        raise AxesError(
            f"{where}: the symbolic axis {symbolic} meets the fixed size {static}. That {static} "
            f"is probably the example's size of {symbolic}, frozen into a constant or a number; "
            "at any other size the two do not fit",
            extents=(left, right),
            rewrites=(
                ("build the other operand from the size", "om.zeros(x.shape[0], 4)"),
                ("give the other operand size 1 there, so that it broadcasts", ""),
                ("declare the axis static", ""),
            ),
        )
    raise AxesError(
        f"{where}: the symbolic axes {left} and {right} are equal in the example only",
        extents=(left, right),
        rewrites=as_multiples(left, right)
        or (("declare both axes with one symbol, if they are always equal", ""),),
    )


# -- reductions and products -----------------------------------------------------------------


def reduce(axes: Axes, dims: int | Sequence[int] | None = None, keepdim: bool = False) -> Axes:
    """Axes after a reduction over ``dims`` (None: all; empty: none)."""
    gone = set(normalize_dims(dims, len(axes)))
    if keepdim:
        return tuple(Extent(1) if i in gone else size for i, size in enumerate(axes))
    return tuple(size for i, size in enumerate(axes) if i not in gone)


def matmul(left: Axes, right: Axes) -> Axes:
    """Axes of ``numpy.matmul``, vectors and broadcast batches included.

    Raises:
        AxesError: where the inner axes are not equal at every size, or for a scalar.
    """
    if not left or not right:
        raise AxesError("matmul needs at least one axis on each side")
    rows = left[-2:-1]
    *_, inner = right if len(right) == 1 else right[:-1]
    columns = right[-1:] if len(right) > 1 else ()
    same_extent(left[-1], inner, "the inner axes of matmul")
    return (*broadcast(left[:-2], right[:-2]), *rows, *columns)


def einsum(equation: str, *operands: Axes) -> Axes:
    """Axes of ``numpy.einsum`` with letters, repeated letters and ``...``.

    Raises:
        AxesError: where a letter stands for extents that are not equal at every size.
    """
    inputs, arrow, output = equation.replace(" ", "").partition("->")
    subscripts = inputs.split(",")
    if len(subscripts) != len(operands):
        raise AxesError(f"the equation {equation!r} does not have {len(operands)} operands")
    letters: dict[str, Extent] = {}
    batches: list[Axes] = []
    for subscript, axes in zip(subscripts, operands, strict=True):
        before, dots, after = subscript.partition("...")
        count = len(axes) - len(before) - len(after)
        if count < 0 or (count and not dots):
            raise AxesError(f"{subscript!r} does not fit the axes {axes_text(axes)}")
        batches.append(axes[len(before) : len(before) + count])
        named = (*axes[: len(before)], *axes[len(before) + count :])
        for letter, size in zip(before + after, named, strict=True):
            known = letters.get(letter, Extent(1))
            stretched = known == 1 or size == 1
            merged = known * size if stretched else same_extent(known, size, f"axis {letter!r}")
            letters[letter] = merged
    if not arrow:
        once = (c for c in sorted(set(inputs)) if c in string.ascii_letters)
        output = "..." * ("..." in inputs) + "".join(c for c in once if inputs.count(c) == 1)
    before, dots, after = output.partition("...")
    middle = broadcast(*batches) if dots else ()
    return (*(letters[c] for c in before), *middle, *(letters[c] for c in after))


# -- joining and parting ---------------------------------------------------------------------


def concat(operands: Sequence[Axes], dim: int) -> Axes:
    """Axes of a concatenation along ``dim``: the sum there, equal extents elsewhere.

    Raises:
        AxesError: where the other axes are not equal at every size.
    """
    first, *others = operands
    dim = normalize_dim(dim, len(first))
    result = list(first)
    for axes in others:
        if len(axes) != len(first):
            raise AxesError(f"concatenation of {axes_text(first)} and {axes_text(axes)}")
        for place, size in enumerate(axes):
            if place == dim:
                result[place] = result[place] + size
            else:
                result[place] = same_extent(result[place], size, "concatenation")
    return tuple(result)


def stack(operands: Sequence[Axes], dim: int = 0) -> Axes:
    """Axes of equal operands stacked along a new axis ``dim``.

    Raises:
        AxesError: where the operands are not equal at every size.
    """
    return concat([unsqueeze(axes, dim) for axes in operands], dim)


def split_sizes(axes: Axes, sizes: int | Extent | Sequence[int | Extent], dim: int) -> list[Axes]:
    """Axes of the parts of a split: one size for all parts, or one for each.

    Raises:
        AxesError: OM404 where the number of parts, or the last part, would depend on a symbol.
    """
    dim = normalize_dim(dim, len(axes))
    size = axes[dim]
    parts = [*sizes] if isinstance(sizes, Sequence) else _equal_parts(size, as_extent(sizes))
    if sum((as_extent(part) for part in parts), Extent(0)) != size:
        raise AxesError(
            f"the parts {axes_text(parts)} do not add up to the axis {size} at every size",
            code="OM404",
            extents=(size,),
            rewrites=(("let the last part be the rest", "n = x.shape[0]; x.split([4, n - 4])"),),
        )
    return [(*axes[:dim], as_extent(part), *axes[dim + 1 :]) for part in parts]


def _equal_parts(size: Extent, part: Extent) -> list[Extent]:
    count = size.ceildiv(part)
    if not count.is_static:
        raise AxesError(
            f"splitting the axis {size} into parts of {part} gives a number of parts that depends "
            "on the size",
            code="OM404",
            extents=(size, part),
            rewrites=(("reshape to a new axis instead", "x.reshape(-1, 4)"),),
        )
    return [part] * (count.value - 1) + [size - part * (count.value - 1)]


def chunk(axes: Axes, chunks: int, dim: int) -> list[Axes]:
    """Axes of ``chunks`` parts, of which the last may be smaller (fewer, if the axis is short).

    Raises:
        AxesError: OM404 where a symbolic axis is not a multiple of ``chunks``.
    """
    size = axes[normalize_dim(dim, len(axes))]
    part = size.ceildiv(chunks)
    if not size.is_static and part * chunks != size:
        raise AxesError(
            f"the axis {size} is not a multiple of {chunks} at every size: the last of {chunks} "
            "chunks would have another size, or be missing",
            code="OM404",
            extents=(size,),
            rewrites=(("split at sizes", "n = x.shape[0] // 2; a, b = x[:n], x[n:]"),),
        )
    return split_sizes(axes, part, dim)


# -- moving axes -----------------------------------------------------------------------------


def permute(axes: Axes, dims: Sequence[int]) -> Axes:
    """``axes`` in the order ``dims``."""
    order = normalize_dims(dims, len(axes))
    if len(order) != len(axes):
        raise AxesError(f"{list(dims)} is no order of {len(axes)} axes")
    return tuple(axes[dim] for dim in order)


def transpose(axes: Axes, first: int, second: int) -> Axes:
    """``axes`` with two of them exchanged."""
    result = list(axes)
    one, two = normalize_dim(first, len(axes)), normalize_dim(second, len(axes))
    result[one], result[two] = result[two], result[one]
    return tuple(result)


def squeeze(axes: Axes, dims: int | Sequence[int] | None = None) -> Axes:
    """Axes without those of size 1 (all, or those of ``dims`` that have size 1).

    Raises:
        AxesError: OM403 where a symbolic axis could have size 1, so that the number of axes
            would depend on it.
    """
    kept = []
    asked = set(normalize_dims(dims, len(axes)))
    for place, size in enumerate(axes):
        if place in asked and not size.is_static:
            low, high = size.bounds()
            if (low is None or low <= 1) and (high is None or high >= 1):
                ones = [i for i, other in enumerate(axes) if other == 1]
                raise AxesError(
                    f"squeeze would drop the axis {size} where it is 1, and keep it elsewhere",
                    extents=(size,),
                    rewrites=(("name the axes of fixed size 1", f"x.squeeze({ones or 1})"),),
                )
        if place not in asked or size != 1:
            kept.append(size)
    return tuple(kept)


def unsqueeze(axes: Axes, dims: int | Sequence[int]) -> Axes:
    """Axes with new ones of size 1 at ``dims``, counted in the result."""
    count = 1 if isinstance(dims, int) else len(dims)
    rank = len(axes) + count
    places = set(normalize_dims(dims, rank))
    rest = iter(axes)
    return tuple(Extent(1) if place in places else next(rest) for place in range(rank))


def expand(axes: Axes, sizes: Sequence[int | Extent]) -> Axes:
    """Axes stretched to ``sizes``; -1 keeps an axis, new axes come in front.

    Raises:
        AxesError: OM403 where an axis other than a static 1 would change its size.
    """
    new = len(sizes) - len(axes)
    if new < 0:
        raise AxesError(f"{axes_text(axes)} cannot be expanded to fewer axes: {axes_text(sizes)}")
    padded = (*[Extent(1)] * new, *axes)
    result = []
    for place, (size, asked) in enumerate(zip(padded, sizes, strict=True)):
        if asked == -1:
            if place < new:
                raise AxesError("-1 is not allowed for a new axis of expand")
            result.append(size)
        else:
            wanted = as_extent(asked)
            result.append(wanted if size == 1 else same_extent(size, wanted, "expand"))
    return tuple(result)


def repeat(axes: Axes, repeats: Sequence[int | Extent]) -> Axes:
    """Axes tiled ``repeats`` times; missing axes or repeats count as 1, in front."""
    rank = max(len(axes), len(repeats))
    sizes = (*[Extent(1)] * (rank - len(axes)), *axes)
    counts = (*[1] * (rank - len(repeats)), *repeats)
    return tuple(size * as_extent(count) for size, count in zip(sizes, counts, strict=True))


def flatten(axes: Axes, start: int = 0, end: int = -1) -> Axes:
    """Axes ``start`` to ``end`` (inclusive) merged into their product; a scalar becomes ``[1]``."""
    if not axes:
        return (Extent(1),)
    first, last = normalize_dim(start, len(axes)), normalize_dim(end, len(axes))
    if first > last:
        raise AxesError(f"flatten from axis {first} to axis {last}")
    merged = Extent(1)
    for size in axes[first : last + 1]:
        merged = merged * size
    return (*axes[:first], merged, *axes[last + 1 :])


# -- look-ups --------------------------------------------------------------------------------


def gather(axes: Axes, index: Axes, dim: int) -> Axes:
    """Axes of ONNX ``Gather``: axis ``dim`` replaced by the axes of the index."""
    dim = normalize_dim(dim, len(axes))
    return (*axes[:dim], *index, *axes[dim + 1 :])


def index_select(axes: Axes, index: Axes, dim: int) -> Axes:
    """Axes of a selection by an index with one axis.

    Raises:
        AxesError: where the index has more than one axis.
    """
    if len(index) > 1:
        raise AxesError(f"index_select needs an index with one axis, not {axes_text(index)}")
    return gather(axes, index or (Extent(1),), dim)


def embedding(weight: Axes, index: Axes) -> Axes:
    """Axes of a table look-up: those of the index, then those of one row."""
    return gather(weight, index, 0)


def arange(start: int | Extent, stop: int | Extent | None = None, step: int | Extent = 1) -> Axes:
    """The axis of a range of integers, as Python's ``range`` counts.

    Raises:
        ValueError: for step 0.
    """
    begin, end = (Extent(0), as_extent(start)) if stop is None else map(as_extent, (start, stop))
    width = as_extent(step)
    if width == 0:
        raise ValueError("arange step cannot be zero")
    return ((end - begin).ceildiv(width).maximum(0),)
