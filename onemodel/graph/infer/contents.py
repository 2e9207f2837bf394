"""Contents: how nodes compute with sizes, from ``Shape`` to what a ``Reshape`` is given.

Only what holds at every size is followed. Float chains are followed while every number in
them is a whole one.
"""

from __future__ import annotations

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.graph.infer.view import (
    MAX_CONTENT,
    Content,
    Dim,
    UnknownError,
    View,
    content_rule,
    place_of,
    product,
    static,
)

EXACT = 1 << 24
"""Numbers below are whole in every float that chains of sizes use."""


def content_of(array: np.ndarray) -> Content:
    """A constant as content; None where it is too large or holds what is no whole number."""
    if array.size > MAX_CONTENT or array.dtype.kind not in "iufb":
        return None
    result = np.empty(array.shape, object)
    for place, number in enumerate(array.reshape(-1).tolist()):
        if array.dtype.kind in "iub" or (abs(number) < EXACT and number == int(number)):
            result.reshape(-1)[place] = Extent(int(number))
    return result


def objects(sizes: list[Dim] | tuple[Dim, ...]) -> np.ndarray:
    """Sizes as a content of rank 1."""
    result = np.empty(len(sizes), object)
    result[:] = sizes
    return result


@content_rule("Shape")
def shape(view: View) -> Content:
    dims = view.known()
    start, end = view.attribute("start", 0), view.attribute("end")
    return objects(dims[slice(start, end)])


@content_rule("Size")
def size(view: View) -> Content:
    return objects([product(view.known())]).reshape(())


@content_rule("Identity", "Cast", "CastLike")
def same(view: View) -> Content:
    content = view.content()
    kind = view.node.outputs[0].dtype
    if kind is not None and kind.kind == "b":
        raise UnknownError
    if kind is not None and kind.kind == "f" and kind.itemsize < 4:
        raise UnknownError  # half precision holds whole numbers only up to 2048
    return content


@content_rule("Floor", "Ceil", "Round", "Abs", "Relu")
def whole(view: View) -> Content:
    content = view.content()
    if view.node.op_type in ("Abs", "Relu"):
        return _each(lambda n: n if n.at_least(0) else None, content)
    return content


def _each(function, *operands: np.ndarray) -> np.ndarray:  # type: ignore[no-untyped-def]
    """``function`` on each element, None where an operand is None."""
    arrays = np.broadcast_arrays(*operands)
    result = np.empty(arrays[0].shape, object)
    if result.size > MAX_CONTENT:
        raise UnknownError
    flat = result.reshape(-1)
    for place, numbers in enumerate(zip(*(a.reshape(-1) for a in arrays), strict=True)):
        if not any(number is None for number in numbers):
            flat[place] = function(*numbers)
    return result


def _divided(view: View, left: Extent, right: Extent) -> Dim:
    """ONNX divides integers toward zero and floats exactly."""
    if right == 0:
        return None
    quotient = left // right
    if quotient * right == left:
        return quotient
    dtype = view.value(0).dtype
    whole_numbers = dtype is not None and dtype.kind in "iu"
    return quotient if whole_numbers and left.at_least(0) and right.at_least(1) else None


@content_rule("Add", "Sub", "Mul", "Div", "Mod")
def arithmetic(view: View) -> Content:
    if view.opset < 7:
        raise UnknownError  # broadcasting was another one
    left, right = view.content(0), view.content(1)
    match view.node.op_type:
        case "Add":
            return _each(lambda a, b: a + b, left, right)
        case "Sub":
            return _each(lambda a, b: a - b, left, right)
        case "Mul":
            return _each(lambda a, b: a * b, left, right)
        case "Div":
            return _each(lambda a, b: _divided(view, a, b), left, right)
        case _:
            positive = lambda a, b: a % b if a.at_least(0) and b.at_least(1) else None  # noqa: E731
            return _each(positive, left, right)


@content_rule("Neg")
def negative(view: View) -> Content:
    return _each(lambda n: -n, view.content())


@content_rule("Max", "Min")
def extremum(view: View) -> Content:
    result = view.content(0)
    for place in range(1, len(view.node.inputs)):
        if view.node.op_type == "Max":
            result = _each(lambda a, b: a.maximum(b), result, view.content(place))
        else:
            result = _each(lambda a, b: a.minimum(b), result, view.content(place))
    return result


def _truth(answer: bool | None) -> Dim:
    return None if answer is None else Extent(int(answer))


def _equal(left: Extent, right: Extent) -> bool | None:
    if left == right:
        return True
    return False if left.at_least(right + 1) or right.at_least(left + 1) else None


def _less(left: Extent, right: Extent) -> bool | None:
    if right.at_least(left + 1):
        return True
    return False if left.at_least(right) else None


@content_rule("Equal", "Less", "Greater")
def comparison(view: View) -> Content:
    if view.opset < 7:
        raise UnknownError
    left, right = view.content(0), view.content(1)
    match view.node.op_type:
        case "Equal":
            return _each(lambda a, b: _truth(_equal(a, b)), left, right)
        case "Less":
            return _each(lambda a, b: _truth(_less(a, b)), left, right)
        case _:
            return _each(lambda a, b: _truth(_less(b, a)), left, right)


@content_rule("Not")
def not_(view: View) -> Content:
    return _each(lambda n: Extent(int(n == 0)) if n.is_static else None, view.content())


@content_rule("Where")
def where(view: View) -> Content:
    choice, yes, no = np.broadcast_arrays(view.content(0), view.content(1), view.content(2))
    if choice.size > MAX_CONTENT:
        raise UnknownError
    result = np.empty(choice.shape, object)
    flat = result.reshape(-1)
    for place, (c, a, b) in enumerate(
        zip(choice.reshape(-1), yes.reshape(-1), no.reshape(-1), strict=True)
    ):
        if c is not None and c.is_static:
            flat[place] = a if c.value else b
        elif a is not None and b is not None and a == b:
            flat[place] = a
    return result


# -- cutting and joining ---------------------------------------------------------------------


@content_rule("Gather")
def gather(view: View) -> Content:
    data = view.content(0)
    where_ = np.vectorize(static, otypes=[np.int64])(view.content(1))
    return np.take(data, where_, axis=place_of(view.attribute("axis", 0), data.ndim))


@content_rule("Concat")
def concat(view: View) -> Content:
    parts = [_content_or_unknown(view, place) for place in range(len(view.node.inputs))]
    axis = place_of(view.attribute("axis", 1), parts[0].ndim)
    result = np.concatenate(parts, axis)
    if result.size > MAX_CONTENT:
        raise UnknownError
    return result


def _content_or_unknown(view: View, place: int) -> np.ndarray:
    """A content, or one of unknown elements where at least its length is known."""
    content = view.contents.get(view.value(place))
    if content is not None:
        return content
    dims = [static(size) for size in view.known(place)]
    if len(dims) != 1 or dims[0] > MAX_CONTENT:
        raise UnknownError
    return np.full(dims, None, object)


@content_rule("Slice")
def slice_(view: View) -> Content:
    data = view.content()
    if "starts" in view.node.attributes:
        starts, ends = list(view.attribute("starts")), list(view.attribute("ends"))
    else:
        starts, ends = view.integers(1), view.integers(2)
    axes = view.axes(3)
    steps = view.integers(4) if view.has(4) else [1] * len(starts)
    cut: list[slice] = [slice(None)] * data.ndim
    chosen = list(range(len(starts))) if axes is None else axes
    for axis, start, end, step in zip(chosen, starts, ends, steps, strict=True):
        if step < 0 and end < -data.shape[axis]:
            end = None  # Python would count a negative end from the back again
        cut[place_of(axis, data.ndim)] = slice(start, end, step)
    return data[tuple(cut)]


@content_rule("Squeeze", "Unsqueeze")
def squeeze(view: View) -> Content:
    data, axes = view.content(), view.axes(1)
    if view.node.op_type == "Squeeze":
        return np.squeeze(data, axis=None if axes is None else tuple(axes))
    return np.expand_dims(data, tuple(axes or ()))


@content_rule("Reshape")
def reshape(view: View) -> Content:
    data = view.content()
    shape_ = view.integers(1) if view.has(1) else list(view.attribute("shape"))
    if any(n == 0 for n in shape_):
        raise UnknownError
    return data.reshape(shape_)


@content_rule("Transpose")
def transpose(view: View) -> Content:
    return np.transpose(view.content(), view.attribute("perm"))


@content_rule("Expand")
def expand(view: View) -> Content:
    data = view.content()
    target = np.broadcast_shapes(data.shape, tuple(view.integers(1)))
    if int(np.prod(target)) > MAX_CONTENT:
        raise UnknownError
    return np.broadcast_to(data, target).copy()


@content_rule("Tile")
def tile(view: View) -> Content:
    data, times = view.content(), view.integers(1)
    if int(np.prod(times)) * max(1, data.size) > MAX_CONTENT or min(times, default=1) < 0:
        raise UnknownError
    return np.tile(data, times)


@content_rule("ConstantOfShape")
def constant_of_shape(view: View) -> Content:
    sizes = view.integers(0)
    if min(sizes, default=0) < 0 or int(np.prod(sizes, dtype=float)) > MAX_CONTENT:
        raise UnknownError
    value = view.attribute("value", np.zeros(1, np.float32))
    content = content_of(np.asarray(value).reshape(-1)[:1])
    if content is None:
        raise UnknownError
    return np.broadcast_to(content.reshape(()), sizes).copy()


@content_rule("Range")
def range_(view: View) -> Content:
    start, limit, delta = (view.integers(place)[0] for place in range(3))
    if delta == 0 or len(numbers := range(start, limit, delta)) > MAX_CONTENT:
        raise UnknownError
    return objects([Extent(number) for number in numbers])


@content_rule("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def reduce(view: View) -> Content:
    data = view.content()
    axes = view.axes(1)
    if data.ndim != 1 or not data.size or (axes is not None and axes not in ([0], [-1])):
        raise UnknownError
    if view.attribute("noop_with_empty_axes", 0):
        raise UnknownError
    result: Dim = data[0]
    for number in data[1:]:
        if result is None or number is None:
            raise UnknownError
        match view.node.op_type:
            case "ReduceProd":
                result = result * number
            case "ReduceSum":
                result = result + number
            case "ReduceMax":
                result = result.maximum(number)
            case _:
                result = result.minimum(number)
    return objects([result]).reshape([1] if view.attribute("keepdims", 1) else [])
