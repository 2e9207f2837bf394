"""Sizes in a graph: what reads or computes them, each one once.

A size is read with Shape from a value that carries it, or computed from sizes that are. Every
function takes the graph context ``g`` first; what was written before is found in ``g.writer``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onemodel.axes.extent import Atom, Extent, as_extent


def vector(g: Any, extents: Sequence[Extent]) -> Any:
    """A 1-D int64 operand holding ``extents``, at least one of which is symbolic.

    One Shape where a value has exactly these axes; otherwise parts joined by Concat.
    """
    whole = g.writer.shaped.get(tuple(extents))
    if whole is not None:
        return _shape(g, whole, 0, len(extents))
    parts: list[Any] = []
    fixed: list[int] = []
    place = 0
    while place < len(extents):
        if extents[place].is_static:
            fixed.append(extents[place].value)
            place += 1
            continue
        if fixed:
            parts.append(g.ints(fixed))
            fixed = []
        end = _run(g, extents, place)
        if end - place > 1:
            value, axis = g.writer.sources[extents[place]]
            parts.append(_shape(g, value, axis, axis + end - place))
        else:
            parts.append(one(g, extents[place]))
        place = end
    if fixed:
        parts.append(g.ints(fixed))
    return parts[0] if len(parts) == 1 else g.op("Concat", *parts, axis=0)


def _run(g: Any, extents: Sequence[Extent], start: int) -> int:
    """Where the sizes end that one Shape can read together, from ``start`` on.

    Sizes that are in the graph already are not read again.
    """
    source = g.writer.sources.get(extents[start])
    if source is None or g.opset < 15:  # Shape has had start and end from 15 on
        return start + 1
    value, axis = source
    end, last, fresh = start, start, False
    for extent, size in zip(extents[start:], value.shape[axis:], strict=False):
        if size is None or as_extent(size) != extent:
            break
        end += 1
        if not extent.is_static:
            last = end
            fresh = fresh or extent not in g.writer.size_values
    if end - start == len(extents):  # everything: no Concat
        return end
    return last if fresh and last > start else start + 1


def one(g: Any, extent: Extent) -> Any:
    """A 1-D int64 operand of one element, the symbolic size ``extent``."""
    known = g.writer.size_values.get(extent)
    if known is None:
        known = g.writer.size_values[extent] = _write(g, extent)
    return known


def _write(g: Any, extent: Extent) -> Any:
    source = g.writer.sources.get(extent)
    if source is not None:
        value, axis = source
        return _shape(g, value, axis, axis + 1)
    if not extent.is_atom:
        first, *others = (one(g, Extent(1, (atom,))) for atom in extent.atoms)
        result = first
        for factor in others:
            result = g.op("Mul", result, factor)
        if extent.coefficient != 1:
            result = g.op("Mul", result, g.ints([extent.coefficient]))
        return result
    atom = extent.atoms[0]
    if not atom.operation:
        return _divided(g, extent, atom)
    if atom.operation == "floordiv":
        return _floordiv(g, *atom.operands)
    first, *rest = (g.size(part) for part in atom.operands)
    for part in rest:
        first = g.op(_NODES[atom.operation], first, part)
    return first


def _divided(g: Any, extent: Extent, atom: Atom) -> Any:
    """A symbol of which an input declares a multiple only, such as ``4*rows``."""
    for known in g.writer.sources:
        if known.atoms == (atom,):
            return g.op("Div", one(g, known), g.ints([known.coefficient]))
    raise g.fault(f"no value of the graph carries the axis {extent}")


def _shape(g: Any, value: Any, start: int, end: int) -> Any:
    """Sizes of the axes ``start`` to ``end`` of ``value``."""
    key = ("shape", value, start, end)
    known = g.writer.memo.get(key)
    if known is None:
        known = g.writer.memo[key] = _write_shape(g, value, start, end)
    return known


def _write_shape(g: Any, value: Any, start: int, end: int) -> Any:
    rank = len(value.shape)
    if (start, end) == (0, rank):
        return g.op("Shape", value)
    if g.opset >= 15:
        return g.op("Shape", value, start=start or None, end=None if end == rank else end)
    whole = _shape(g, value, 0, rank)
    return g.op("Gather", whole, g.ints(range(start, end)), axis=0)


def _floordiv(g: Any, dividend: Extent, divisor: Extent) -> Any:
    a, b = g.size(dividend), g.size(divisor)
    if dividend == 1 and divisor.at_least(0):
        # No Div: ONNX Runtime turns 1 / b * c into c / b, of integers too.
        return g.op("Cast", g.op("Equal", b, a), to=7)
    quotient = g.op("Div", a, b)
    if dividend.at_least(0) and divisor.at_least(1):
        return quotient
    # ONNX divides integers toward zero; a dividend such as w - 3 may be negative.
    remainder = g.op("Sub", a, g.op("Mul", quotient, b))
    negative = g.op("Cast", g.op("Less", remainder, g.ints([0])), to=7)
    return g.op("Sub", quotient, negative)


_NODES = {"sum": "Add", "max": "Max", "min": "Min"}
