"""Computes at once what depends on constants alone.

Bit rule: exact. The session's own kernels compute the values, with the same inputs.
Defaults that a caller may feed over are not constants. Random numbers are not folded, nor
are values that would grow beyond :data:`MAX_BYTES`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from onemodel.graph.bind import Mode, bind, is_control_flow, is_deterministic
from onemodel.graph.ir import Graph, Node, Value
from onemodel.passes.result import Notes, PassResult
from onemodel.passes.rewire import graphs, label, overridable

MAX_BYTES = 1 << 24
"""Largest folded value that is larger than its inputs together."""


def run(graph: Graph, mode: Mode = "fast") -> PassResult:
    """Replace nodes of constant inputs by initializers, bodies included.

    ``mode`` says by which kernels: those of the session.
    """
    notes = Notes()
    known: dict[Value, np.ndarray] = {}
    for part in graphs(graph):
        skipped = overridable(part)
        known.update({v: a for v, a in part.initializers.items() if v not in skipped})
        part.nodes[:] = [n for n in part.nodes if not _fold(n, part, graph, known, notes, mode)]
    return notes.result()


def _fold(
    node: Node,
    part: Graph,
    graph: Graph,
    known: dict[Value, np.ndarray],
    notes: Notes,
    mode: Mode,
) -> bool:
    inputs = [value for value in node.inputs if value is not None]
    if not all(value in known for value in inputs):
        return False
    arrays = [None if value is None else known[value] for value in node.inputs]
    results = evaluate(node, arrays, graph.opsets, mode)
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
    node: Node,
    arrays: list[np.ndarray | None],
    opsets: Mapping[str, int],
    mode: Mode = "fast",
) -> list[np.ndarray] | None:
    """The outputs of ``node``, or None where it cannot be computed ahead.

    Errors of the kernel are left to the run, which can say where they happened.
    """
    if is_control_flow(node) or not is_deterministic(node, opsets):
        return None
    if _grows(node, arrays):
        return None
    function = bind(node, opsets, mode=mode)
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
    given = [array for array in arrays if array is not None]
    if not given:
        return False
    with np.errstate(all="ignore"):
        elements = _most_elements(node, given)
    largest = max(array.nbytes for array in given)
    return not elements * 8 <= max(MAX_BYTES, 4 * largest)


def _most_elements(node: Node, given: list[np.ndarray]) -> float:
    """An upper bound of the elements of the result, from the values where those decide."""
    first, sizes = given[0], [array.size for array in given]
    match node.op_type:
        case "ConstantOfShape":
            return _product(first)
        case "Expand" | "Tile" | "OneHot" if len(given) > 1:
            return _product(given[1]) * max(1, first.size)
        case "Range" if len(given) == 3 and all(size == 1 for size in sizes):
            start, limit, step = (float(array.reshape(-1)[0]) for array in given)
            return abs((limit - start) / step) if step else 0.0
        case "Resize" | "Upsample" | "Pad":
            extra = 1 if node.op_type == "Pad" else 0
            factors = [_product(np.abs(a) + extra) for a in given[1:] if a.dtype.kind in "if"]
            return max([first.size, *(first.size * max(1.0, factor) for factor in factors)])
        case "EyeLike":
            return first.size
        case "MatMul" if len(given) == 2 and first.ndim and given[1].ndim:
            inner = max(1, first.shape[-1])
            return math.prod(sizes) / inner / inner
        case "Einsum" | "Gather" | "GatherND" | "ConvTranspose" | "Conv" | "Gemm":
            return math.prod(sizes)
    try:
        return math.prod(np.broadcast_shapes(*(array.shape for array in given)))
    except ValueError:
        return sum(sizes)  # no element-wise node: it joins, picks or rearranges


def _product(array: np.ndarray) -> float:
    if array.dtype.kind not in "iuf":
        return 0.0
    return math.prod(float(item) for item in array.reshape(-1).tolist())
