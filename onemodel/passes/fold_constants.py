"""Computes at once what depends on constants alone.

Bit rule: exact. The session's own kernels compute the values, with the same inputs.
Defaults that a caller may feed over are not constants. Random numbers are not folded, nor
are values that would grow beyond :data:`MAX_BYTES`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from onemodel.graph.bind import bind, is_control_flow, is_deterministic
from onemodel.graph.ir import Graph, Node, Value
from onemodel.passes.result import Notes, PassResult
from onemodel.passes.rewire import graphs, label, overridable

MAX_BYTES = 1 << 24
"""Largest folded value that is larger than its inputs together."""


def run(graph: Graph) -> PassResult:
    """Replace nodes of constant inputs by initializers, bodies included."""
    notes = Notes()
    known: dict[Value, np.ndarray] = {}
    for part in graphs(graph):
        skipped = overridable(part)
        known.update({v: a for v, a in part.initializers.items() if v not in skipped})
        part.nodes[:] = [n for n in part.nodes if not _fold(n, part, graph, known, notes)]
    return notes.result()


def _fold(
    node: Node, part: Graph, graph: Graph, known: dict[Value, np.ndarray], notes: Notes
) -> bool:
    inputs = [value for value in node.inputs if value is not None]
    if not all(value in known for value in inputs):
        return False
    arrays = [None if value is None else known[value] for value in node.inputs]
    results = evaluate(node, arrays, graph.opsets)
    # Outputs of the whole graph keep a node: an initializer may not be an output's producer.
    if results is None or (part is graph and any(v in graph.outputs for v in node.outputs)):
        return False
    for value, array in zip(node.outputs, results, strict=False):
        if not value.name:
            continue
        value.producer, value.dtype, value.shape = None, array.dtype, array.shape
        part.initializers[value] = array
        known[value] = array
    notes.add(f"{label(node)} is constant")
    return True


def evaluate(
    node: Node, arrays: list[np.ndarray | None], opsets: Mapping[str, int]
) -> list[np.ndarray] | None:
    """The outputs of ``node``, or None where it cannot be computed ahead.

    Errors of the kernel are left to the run, which can say where they happened.
    """
    if is_control_flow(node) or not is_deterministic(node, opsets):
        return None
    if _grows(node, arrays):
        return None
    function = bind(node, opsets)
    if function is None:
        return None
    try:
        with np.errstate(all="ignore"):
            found = function(*arrays)
    except Exception:
        return None
    results = list(found) if isinstance(found, tuple) else [found]
    if any(not isinstance(item, np.ndarray | np.generic) for item in results):
        return None  # sequences and optionals have no initializer
    arrays_out = [np.asarray(item) for item in results]
    size = sum(array.nbytes for array in arrays_out)
    if size > max(MAX_BYTES, sum(a.nbytes for a in arrays if a is not None)):
        return None
    return arrays_out


def _grows(node: Node, arrays: list[np.ndarray | None]) -> bool:
    """Whether the result would be too large, judged before it is allocated."""
    first = arrays[0] if arrays else None
    second = arrays[1] if len(arrays) > 1 else None
    third = arrays[2] if len(arrays) > 2 else None
    elements = 0.0
    with np.errstate(all="ignore"):
        if node.op_type == "ConstantOfShape" and first is not None:
            elements = _product(first)
        elif node.op_type in ("Expand", "Tile") and first is not None and second is not None:
            elements = _product(second) * max(1, first.size)
        elif node.op_type == "Range" and third is not None and third.size == 1:
            step = float(third.reshape(-1)[0]) if third.dtype != object else 1.0
            span = float(second.reshape(-1)[0]) - float(first.reshape(-1)[0])  # type: ignore
            elements = abs(span / step) if step else 0.0
        elif node.op_type == "OneHot" and first is not None and second is not None:
            elements = first.size * _product(second)
        elif node.op_type in ("Resize", "Upsample", "Pad", "EyeLike") and first is not None:
            sizes = [a for a in arrays[1:] if a is not None and a.dtype.kind in "if"]
            bound = [_product(np.abs(a) + (1 if node.op_type == "Pad" else 0)) for a in sizes]
            elements = max([first.size, *(first.size * b for b in bound)])
    return not elements * 8 <= MAX_BYTES


def _product(array: np.ndarray) -> float:
    return math.prod(float(item) for item in array.reshape(-1).tolist())
