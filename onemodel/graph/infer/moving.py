"""Sizes after nodes that move, cut, join, repeat and look up."""

from __future__ import annotations

from onemodel.axes.extent import AxesError, Extent
from onemodel.axes.rules import arange
from onemodel.axes.rules import einsum as einsum_axes
from onemodel.axes.rules import slice_ as slice_axes
from onemodel.graph.infer.view import (
    ONE,
    ZERO,
    Dim,
    Dims,
    UnknownError,
    View,
    broadcast_dims,
    place_of,
    product,
    shape_rule,
    static,
)

FAR = 2**31 - 1
"""Slice bounds from here on mean the end of the axis."""


@shape_rule("Shape")
def shape(view: View) -> list[Dims]:
    start, end = view.attribute("start", 0), view.attribute("end")
    return [(Extent(len(view.known()[slice(start, end)])),)]


@shape_rule("Size")
def size(view: View) -> list[Dims]:
    return [()]


@shape_rule("Transpose")
def transpose(view: View) -> list[Dims]:
    dims = view.known()
    order = view.attribute("perm", list(range(len(dims)))[::-1])
    return [tuple(dims[place_of(axis, len(dims))] for axis in order)]


@shape_rule("Squeeze")
def squeeze(view: View) -> list[Dims]:
    dims, axes = view.known(), view.axes(1)
    if axes is None:
        if any(dim is None or not dim.is_static for dim in dims):
            raise UnknownError  # which axes go depends on the sizes
        return [tuple(dim for dim in dims if dim != ONE)]
    gone = {place_of(axis, len(dims)) for axis in axes}
    return [tuple(dim for place, dim in enumerate(dims) if place not in gone)]


@shape_rule("Unsqueeze")
def unsqueeze(view: View) -> list[Dims]:
    dims, axes = view.known(), view.axes(1)
    if axes is None:
        raise UnknownError
    rank = len(dims) + len(axes)
    new, rest = {place_of(axis, rank) for axis in axes}, iter(dims)
    if len(new) != len(axes):
        raise UnknownError  # an axis is named twice
    return [tuple(ONE if place in new else next(rest) for place in range(rank))]


@shape_rule("Flatten")
def flatten(view: View) -> list[Dims]:
    dims = view.known()
    axis = view.attribute("axis", 1)
    axis = axis + len(dims) if axis < 0 else axis
    return [(product(dims[:axis]), product(dims[axis:]))]


@shape_rule("Reshape")
def reshape(view: View) -> list[Dims]:
    dims = view.dims()
    if view.has(1):
        target = _target(view, 1)
    else:
        target = [Extent(int(number)) for number in view.attribute("shape")]
    copies = not view.attribute("allowzero", 0)
    result: list[Dim] = []
    rest: list[Dim] = list(dims) if dims is not None else [None]
    open_place = None
    for place, wanted in enumerate(target):
        if wanted is not None and wanted == 0 and copies:
            if dims is None or place >= len(dims):
                result.append(None)
                rest.append(None)
                continue
            wanted = dims[place]
            rest[place] = ONE  # stands on both sides
            result.append(wanted)
        elif wanted is not None and wanted == -1:
            open_place = place
            result.append(ONE)
        else:
            # What may be -1 or 0 at some sizes would mean something else there.
            sure = wanted is not None and wanted.at_least(0)
            result.append(wanted if sure else None)
    if open_place is not None:
        given = [
            size
            for place, (size, wanted) in enumerate(zip(result, target, strict=True))
            if place != open_place and not (wanted is not None and wanted == 0 and copies)
        ]
        total, known = product(rest), product(given)
        unknown = total is None or known is None or known == 0
        result[open_place] = None if unknown else total // known  # type: ignore[operator]
    return [tuple(result)]


def _target(view: View, place: int) -> list[Dim]:
    """A vector of sizes; of unknown ones where only its length is known."""
    content = view.contents.get(view.value(place))
    if content is not None:
        return list(content.reshape(-1))
    (length,) = view.known(place)
    count = static(length)
    if count > 64:
        raise UnknownError
    return [None] * count


@shape_rule("Expand")
def expand(view: View) -> list[Dims]:
    return [broadcast_dims(view.known(), tuple(_target(view, 1)))]


@shape_rule("ConstantOfShape")
def constant_of_shape(view: View) -> list[Dims]:
    return [tuple(_target(view, 0))]


@shape_rule("Tile")
def tile(view: View) -> list[Dims]:
    if view.opset < 6:
        raise UnknownError
    dims, times = view.known(), _target(view, 1)
    return [tuple(product(pair) for pair in zip(dims, times, strict=True))]


@shape_rule("Range")
def range_(view: View) -> list[Dims]:
    try:
        bounds = [view.content(place).reshape(-1)[0] for place in range(3)]
    except UnknownError:
        return [(None,)]
    if any(bound is None for bound in bounds):
        return [(None,)]
    return [arange(*bounds)]


@shape_rule("Concat")
def concat(view: View) -> list[Dims]:
    parts = [view.dims(place) for place in range(len(view.node.inputs))]
    ranked = [dims for dims in parts if dims is not None]
    if not ranked:
        raise UnknownError
    rank = len(ranked[0])
    axis = place_of(view.attribute("axis", 1), rank)
    total: Dim = ZERO
    for dims in parts:
        size_ = None if dims is None else dims[axis]
        total = None if total is None or size_ is None else total + size_
    result = [_agreed([dims[place] for dims in ranked]) for place in range(rank)]
    result[axis] = total
    return [tuple(result)]


def _agreed(sizes: list[Dim]) -> Dim:
    """The size that equal axes have, told by the most definite of them."""
    known = [size_ for size_ in sizes if size_ is not None]
    fixed = [size_ for size_ in known if size_.is_static]
    return next(iter(fixed or known), None)


@shape_rule("Split")
def split(view: View) -> list[Dims]:
    dims = view.known()
    axis = place_of(view.attribute("axis", 0), len(dims))
    whole, count = dims[axis], view.outputs
    parts: list[Dim]
    if "split" in view.node.attributes:
        parts = [Extent(int(n)) for n in view.attribute("split")]
    elif view.has(1):
        if view.opset < 2:
            raise UnknownError
        parts = _target(view, 1)
    elif whole is None:
        parts = [None] * count
    else:
        part = whole.ceildiv(count) if view.opset >= 18 else whole // count
        last = whole - part * (count - 1)
        # A last part below zero means that the ones before it are cut short as well.
        parts = [None] * count
        if last.at_least(0):
            parts = [*[part] * (count - 1), last]
    return [(*dims[:axis], part, *dims[axis + 1 :]) for part in parts]


@shape_rule("Slice")
def slice_(view: View) -> list[Dims]:
    result = list(view.known())
    rank = len(result)
    if "starts" in view.node.attributes:
        starts: list[Dim] = [Extent(int(n)) for n in view.attribute("starts")]
        ends: list[Dim] = [Extent(int(n)) for n in view.attribute("ends")]
    else:
        starts, ends = _target(view, 1), _target(view, 2)
    try:
        axes = view.axes(3)
    except UnknownError:
        return [(None,) * rank]
    steps: list[Dim] = [ONE] * len(starts)
    if view.has(4):
        steps = _target(view, 4)
    chosen = list(range(len(starts))) if axes is None else axes
    for axis, start, end, step in zip(chosen, starts, ends, steps, strict=True):
        place = place_of(axis, rank)
        result[place] = _cut(result[place], start, end, step)
    return [tuple(result)]


def _cut(whole: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    if None in (whole, start, end, step) or not step.is_static or step == 0:  # type: ignore[union-attr]
        return None
    assert whole is not None
    if step.value < 0:  # type: ignore[union-attr]
        return _cut_backward(whole, start, end, step.value)  # type: ignore[union-attr]
    bounds = [_bound(start), _bound(end)]
    if isinstance(bounds[0], int) and bounds[0] >= FAR:
        return ZERO
    if isinstance(bounds[0], int) and bounds[0] <= -FAR:
        bounds[0] = None
    if isinstance(bounds[1], int) and bounds[1] >= FAR:
        bounds[1] = None
    try:
        return slice_axes((whole,), 0, *bounds, step.value)[0]  # type: ignore[union-attr]
    except (AxesError, OverflowError):
        return None


def _cut_backward(whole: Extent, start: Dim, end: Dim, step: int) -> Dim:
    first, last = _bound(start), _bound(end)
    if whole.is_static and isinstance(first, int) and isinstance(last, int):
        size_ = whole.value
        stop = None if last < -size_ else last
        return Extent(len(range(*slice(first, stop, step).indices(size_))))
    everything = isinstance(first, int) and isinstance(last, int) and last <= -FAR
    if everything and (first == -1 or first >= FAR):  # type: ignore[operator]
        return whole.ceildiv(-step)
    return None


def _bound(size_: Dim) -> int | Extent | None:
    return size_.value if size_ is not None and size_.is_static else size_


@shape_rule("Pad")
def pad(view: View) -> list[Dims]:
    result = list(view.known())
    if view.has(1):
        pads = _target(view, 1)
    else:
        given = view.attribute("pads", view.attribute("paddings"))
        pads = [Extent(int(n)) for n in given]
    axes = list(range(len(result)))
    if view.has(3):
        axes = [place_of(axis, len(result)) for axis in view.integers(3)]
    half = len(pads) // 2
    for axis, begin, end in zip(axes, pads[:half], pads[half:], strict=True):
        size_ = result[axis]
        unknown = size_ is None or begin is None or end is None
        result[axis] = None if unknown else size_ + begin + end  # type: ignore[operator]
    return [tuple(result)]


# -- look-ups --------------------------------------------------------------------------------


@shape_rule("Gather")
def gather(view: View) -> list[Dims]:
    dims, index = view.known(), view.known(1)
    axis = place_of(view.attribute("axis", 0), len(dims))
    return [(*dims[:axis], *index, *dims[axis + 1 :])]


@shape_rule("GatherElements")
def gather_elements(view: View) -> list[Dims]:
    return [view.known(1)]


@shape_rule("GatherND")
def gather_nd(view: View) -> list[Dims]:
    dims, index = view.known(), view.known(1)
    first = view.attribute("batch_dims", 0) + static(index[-1])
    return [(*index[:-1], *dims[first:])]


@shape_rule("OneHot")
def one_hot(view: View) -> list[Dims]:
    dims = view.known()
    axis = place_of(view.attribute("axis", -1), len(dims) + 1)
    depth = view.contents.get(view.value(1))
    size_ = None if depth is None else depth.reshape(-1)[0]
    return [(*dims[:axis], size_, *dims[axis:])]


@shape_rule("TopK")
def top_k(view: View) -> list[Dims]:
    result = list(view.known())
    axis = place_of(view.attribute("axis", -1), len(result))
    if "k" in view.node.attributes:
        result[axis] = Extent(int(view.attribute("k")))
    else:
        result[axis] = _target(view, 1)[0]
    return [tuple(result)] * 2


@shape_rule("NonZero")
def non_zero(view: View) -> list[Dims]:
    return [(Extent(max(1, len(view.known()))), None)]


@shape_rule("DepthToSpace", "SpaceToDepth")
def depth_to_space(view: View) -> list[Dims]:
    n, c, h, w = view.known()
    block = int(view.attribute("blocksize"))
    square = block * block
    deep = view.node.op_type == "SpaceToDepth"

    def times(size_: Dim, up: int, down: int) -> Dim:
        return None if size_ is None else size_ * up // down

    if deep:
        return [(n, times(c, square, 1), times(h, 1, block), times(w, 1, block))]
    return [(n, times(c, 1, square), times(h, block, 1), times(w, block, 1))]


@shape_rule("Einsum")
def einsum(view: View) -> list[Dims]:
    equation = view.attribute("equation", "")
    operands = []
    for place in range(len(view.node.inputs)):
        dims = view.known(place)
        if None in dims:
            raise UnknownError
        operands.append(dims)
    return [einsum_axes(equation, *operands)]  # type: ignore[arg-type]
