"""Removes nodes that hand their input through.

Covers Identity, Dropout outside training, Transpose in order, Cast to the dtype it has, and
sums, means, maxima, minima and concatenations of one input. Bit rule: exact; the bits of the
input are the result. (Mean of one value divides by one, Max of one compares with nothing.)
"""

from __future__ import annotations

from onemodel.graph.bind import is_deterministic
from onemodel.graph.dtypes import dtype_of_element
from onemodel.graph.ir import Graph, Node, Value
from onemodel.passes.result import Notes, PassResult
from onemodel.passes.rewire import graphs, label, overridable, readers, replace

_OF_ONE = frozenset({"Concat", "Max", "Min", "Mean", "Sum"})


def run(graph: Graph) -> PassResult:
    """Let readers of such nodes read the input; outputs of the graph keep their node."""
    notes = Notes()
    counts = readers(graph)
    kept_names = set(graph.outputs)
    table: dict[Value, Value] = {}
    for part in graphs(graph):
        defaults = overridable(part)
        own = {value for node in part.nodes for value in node.outputs}
        kept = []
        for node in part.nodes:
            source = node.inputs[0] if node.inputs else None
            if (
                source is not None
                and node.outputs  # an RNN may leave out every one
                and source not in defaults
                and node.outputs[0] not in kept_names
                # A body has to compute its outputs itself, so it may not hand out a capture.
                and (source in own or node.outputs[0] not in part.outputs)
                and not any(counts.get(value) for value in node.outputs[1:])
                and _hands_through(node, source, graph)
            ):
                table[node.outputs[0]] = source
                notes.add(f"{label(node)} hands {source.name!r} through")
            else:
                kept.append(node)
        part.nodes[:] = kept
    replace(graph, table)
    return notes.result()


def _hands_through(node: Node, source: Value, graph: Graph) -> bool:
    if node.domain:
        return False
    match node.op_type:
        case "Identity":
            return True
        case "Dropout":
            return is_deterministic(node, graph.opsets)
        case "Transpose":
            order = node.attributes.get("perm")
            if order is None:
                return source.rank is not None and source.rank < 2
            return order == list(range(len(order)))  # type: ignore[arg-type]
        case "Cast":
            to = node.attributes.get("to")
            return source.dtype is not None and dtype_of_element(to) == source.dtype  # type: ignore
    return node.op_type in _OF_ONE and len(node.inputs) == 1 and not source.type_text
