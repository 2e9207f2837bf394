"""The moves that ONNX made between opsets, once: attribute to input, narrow dtypes, new forms.

Each takes the graph context ``g`` first and writes the form that ``g.opset`` has. Values are
graph values; nothing here knows the graph itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_WIDER = ("int32", "int64", "float32", "float64")
_MAX_INT64 = np.iinfo(np.int64).max
_MIN_INT64 = np.iinfo(np.int64).min


def arithmetic(g: Any, op_type: str, *inputs: Any, **attributes: Any) -> Any:
    """A node whose operands share a dtype, computed in a wider one where the opset lacks it.

    int8 and int16 go through int32, uint32 and narrower through int64; wrapping around on the
    way back gives eager's numbers for + - *.
    """
    dtype = inputs[0].dtype
    if dtype is None or g.accepts(op_type, dtype):
        return g.op(op_type, *inputs, **attributes)
    wide = wider(g, op_type, dtype)
    if wide is None:
        return g.op(op_type, *inputs, **attributes)  # raises, naming the lowest opset
    result = g.op(op_type, *(g.cast(v, wide) for v in inputs), **attributes)
    return g.cast(result, dtype)


def comparison(g: Any, op_type: str, left: Any, right: Any) -> Any:
    """A comparison; operands go to a wider dtype where the opset lacks theirs, result is bool."""
    dtype = left.dtype
    if dtype is not None and not g.accepts(op_type, dtype):
        wide = wider(g, op_type, dtype)
        if wide is not None:
            left, right = g.cast(left, wide), g.cast(right, wide)
    return g.op(op_type, left, right)


def wider(g: Any, op_type: str, dtype: np.dtype) -> np.dtype | None:
    """The narrowest dtype that ``op_type`` takes at this opset and that holds every ``dtype``.

    Integers never go through float32 (24 bits), and 64-bit ones through no float at all;
    bfloat16 and float16 go through float32, as they do in eager.
    """
    for name in _WIDER:
        wide = np.dtype(name)
        exact = np.can_cast(dtype, wide, "safe") if dtype.kind in "iub" else wide.kind == "f"
        if dtype.kind in "iu" and dtype.itemsize == 8 and wide.kind == "f":
            exact = False  # which NumPy calls safe
        if exact and wide.itemsize >= dtype.itemsize and g.accepts(op_type, wide):
            return wide
    return None


def logical_not(g: Any, value: Any) -> Any:
    return g.op("Not", value)


def reduce(g: Any, op_type: str, input: Any, dims: Sequence[int], keepdim: bool) -> Any:
    """``ReduceSum`` and its kin: ``axes`` became an input at 13 (sum) or 18 (the others).

    No axes at all (a 0-d operand or an empty list) writes an Identity: nothing is reduced.
    """
    if not dims:
        return g.op("Identity", input)
    as_input = g.opset >= (13 if op_type == "ReduceSum" else 18)
    dtype = input.dtype
    narrow = False
    if dtype is not None and not g.accepts(op_type, dtype):
        wide = wider(g, op_type, dtype)
        if wide is not None:
            narrow, input = True, g.cast(input, wide)
    if as_input:
        result = g.op(op_type, input, g.ints(dims), keepdims=int(keepdim))
    else:
        result = g.op(op_type, input, axes=list(dims), keepdims=int(keepdim))
    return g.cast(result, dtype) if narrow else result


def squeeze(g: Any, input: Any, dims: Sequence[int]) -> Any:
    """Drop axes of size 1; ``axes`` became an input at 13. A constant is written squeezed."""
    if not dims:
        return input
    known = g.array(input)
    if known is not None:
        return g.view(input, known.squeeze(tuple(dims)), "squeeze", *dims)
    if g.opset >= 13:
        return g.op("Squeeze", input, g.ints(dims))
    return g.op("Squeeze", input, axes=list(dims))


def unsqueeze(g: Any, input: Any, dims: Sequence[int]) -> Any:
    """Add axes of size 1 at the positions ``dims`` of the result; an input from 13 on.

    A constant is written with them.
    """
    if not dims:
        return input
    known = g.array(input)
    if known is not None:
        return g.view(input, np.expand_dims(known, tuple(dims)), "unsqueeze", *dims)
    if g.opset >= 13:
        return g.op("Unsqueeze", input, g.ints(dims))
    return g.op("Unsqueeze", input, axes=list(dims))


def transpose(g: Any, input: Any, order: Sequence[int]) -> Any:
    """The axes of ``input`` in another order. A constant is written in it."""
    known = g.array(input)
    if known is not None:
        return g.view(input, known.transpose(order), "transpose", *order)
    return g.op("Transpose", input, perm=list(order))


def reshape(g: Any, input: Any, dims: Sequence[Any]) -> Any:
    """``input`` under the sizes ``dims`` (integers, one of which may be -1, or extents).

    One symbolic size is written as -1, several that all stay in their places as 0 each; others
    are computed, and from 14 on a size of 0 among those is taken as it is, no copy of the
    input's. Never both: beside an empty axis -1 has no meaning. A constant is written in its new
    shape.
    """
    fixed = [int(getattr(size, "value", size)) if _is_static(size) else None for size in dims]
    known = g.array(input)
    if known is not None and None not in fixed:
        return g.view(input, known.reshape([size or 0 for size in fixed]), "reshape", *fixed)
    symbolic = [place for place, size in enumerate(fixed) if size is None]
    before = input.shape or ()
    stay = all(p < len(before) and before[p] is not None and before[p] == dims[p] for p in symbolic)
    if len(symbolic) > 1 and stay and 0 not in fixed:
        return g.op("Reshape", input, g.ints([size or 0 for size in fixed]))
    may_be_empty = -1 not in fixed and (0 in fixed or len(symbolic) > 1)
    literal = 1 if may_be_empty and g.opset >= 14 else None
    shape = g.sizes(dims, minus_one=-1 not in fixed)
    return g.op("Reshape", input, shape, allowzero=literal)


def slice_(
    g: Any,
    input: Any,
    starts: Sequence[Any],
    ends: Sequence[Any],
    dims: Sequence[int],
    steps: Sequence[int] | None = None,
) -> Any:
    """Part of some axes. Bounds may be extents; they became inputs at 10, with steps.

    ``ends`` of None mean "to the end" in the direction of the step.
    """
    steps = [1] * len(dims) if steps is None else list(steps)
    plain_ends = [
        (_MAX_INT64 if step > 0 else _MIN_INT64) if end is None else end
        for end, step in zip(ends, steps, strict=True)
    ]
    if g.opset >= 10:
        operands = [g.sizes(starts), g.sizes(plain_ends), g.ints(dims)]
        if any(step != 1 for step in steps):
            operands.append(g.ints(steps))
        return g.op("Slice", input, *operands)
    if any(step != 1 for step in steps):
        raise g.unsupported("a slice with a step needs Slice-10", lowest=10)
    bounds = [*starts, *plain_ends]
    if not all(_is_static(bound) for bound in bounds):
        raise g.unsupported("a slice up to a symbolic size needs Slice-10", lowest=10)
    static = [int(getattr(bound, "value", bound)) for bound in bounds]
    half = len(dims)
    return g.op("Slice", input, starts=static[:half], ends=static[half:], axes=list(dims))


def _is_static(bound: Any) -> bool:
    return isinstance(bound, int) or bound.is_static


def pad(g: Any, input: Any, pads: Sequence[Any], mode: str = "constant", value: Any = 0) -> Any:
    """``pads`` in ONNX order (all begins, then all ends); an input from 11 on."""
    if g.opset >= 11:
        fill = g.like(value, input) if mode == "constant" else None
        return g.op("Pad", input, g.sizes(pads), fill, mode=mode)
    if not all(_is_static(p) for p in pads):
        raise g.unsupported("padding by a symbolic size needs Pad-11", lowest=11)
    static = [int(getattr(p, "value", p)) for p in pads]
    if mode == "constant":
        return g.op("Pad", input, pads=static, mode=mode, value=float(value))
    return g.op("Pad", input, pads=static, mode=mode)


def clip(g: Any, input: Any, low: Any, high: Any) -> Any:
    """``low`` and ``high`` (numbers or None); inputs from 11 on, integers from 12 on.

    Below that, integers are compared and chosen element by element (Where needs 9). A missing
    bound of floats is written as infinity: ONNX means the largest finite number by none.
    """
    if g.accepts("Clip", input.dtype):
        if input.dtype.kind == "f" and (low is None) != (high is None):
            low, high = -np.inf if low is None else low, np.inf if high is None else high
        if g.opset >= 11:
            bounds = [None if bound is None else g.like(bound, input) for bound in (low, high)]
            return g.op("Clip", input, *bounds)
        limits = {"min": low, "max": high}
        given = {name: float(bound) for name, bound in limits.items() if bound is not None}
        return g.op("Clip", input, **given) if given else g.op("Identity", input)
    result = input
    if low is not None:
        bound = g.like(low, input)
        result = g.op("Where", comparison(g, "Less", result, bound), bound, result)
    if high is not None:
        bound = g.like(high, input)
        result = g.op("Where", comparison(g, "Greater", result, bound), bound, result)
    return result


def topk(g: Any, input: Any, k: int, dim: int, largest: bool = True, sort: bool = True) -> Any:
    """(values, indices); ``k`` became an input at 10, largest and sorted came at 11."""
    if g.opset >= 11:
        return g.op(
            "TopK", input, g.ints([k]), axis=dim, largest=int(largest), sorted=int(sort), outputs=2
        )
    if not largest:
        raise g.unsupported("the smallest k need TopK-11", lowest=11)
    if g.opset >= 10:
        return g.op("TopK", input, g.ints([k]), axis=dim, outputs=2)
    return g.op("TopK", input, k=k, axis=dim, outputs=2)


def split(g: Any, input: Any, sizes: Sequence[Any], dim: int) -> tuple[Any, ...]:
    """Parts of the given sizes along ``dim``; the sizes became an input at 13."""
    if len(sizes) == 1:
        return (g.op("Identity", input),)
    if g.opset >= 13:
        return g.op("Split", input, g.sizes(sizes), axis=dim, outputs=len(sizes))
    if not all(_is_static(size) for size in sizes):
        raise g.unsupported("a split by symbolic sizes needs Split-13", lowest=13)
    static = [int(getattr(size, "value", size)) for size in sizes]
    return g.op("Split", input, split=static, axis=dim, outputs=len(sizes))


def dropout(g: Any, input: Any) -> Any:
    """Dropout of an inference graph: nothing."""
    return g.op("Identity", input)


def expand(g: Any, input: Any, dims: Sequence[Any]) -> Any:
    """``input`` stretched to ``dims``; Expand came at 8."""
    if g.opset < 8:
        raise g.unsupported("expanding needs Expand-8", lowest=8)
    return g.op("Expand", input, g.sizes(dims))


def where(g: Any, condition: Any, left: Any, right: Any) -> Any:
    """Element-wise choice. Where came at 9; below, floats are chosen by multiplication only
    where both branches are finite, which a graph cannot know: refused."""
    g.refuse_below(9, "Where")
    return g.op("Where", condition, left, right)
