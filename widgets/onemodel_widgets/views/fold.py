"""First steps of preparing a graph: constants into labels, shape arithmetic into chips.

What is laid out is decided here, not by the layout engine: a thousand constants
drawn as boxes cost minutes, folded into their consumer's label they cost nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from onemodel.graph.ir import Graph, Node, Value

_SOURCES_OF_SHAPE = {"Shape", "Size"}
_SHAPE_ARITHMETIC = frozenset(
    """
    Gather GatherElements GatherND Slice Concat Unsqueeze Squeeze Reshape Flatten Identity
    Cast Add Sub Mul Div Mod Neg Abs Max Min Floor Ceil Where Equal Greater Less
    GreaterOrEqual LessOrEqual Not And Or ReduceProd ReduceSum ReduceMax ReduceMin
    ConstantOfShape Expand Split ScatterND ScatterElements Range Tile Pad CastLike Transpose
    """.split()  # noqa: SIM905
)
_MAX_MEMBERS = 200
_MAX_RANK_OF_SHAPE = 1


@dataclass
class Folded:
    """Nodes that stay, and what was folded into them.

    ``nodes`` stay, in topological order. ``constants`` holds, per node, the
    operands that depend on no input. ``arrays`` holds what is known of
    constants. ``chips`` holds, per node, the shape arithmetic that feeds it.
    """

    nodes: list[Node] = field(default_factory=list)
    constants: dict[Node, list[Value]] = field(default_factory=dict)
    arrays: dict[Value, np.ndarray] = field(default_factory=dict)
    chips: dict[Node, tuple[Node, ...]] = field(default_factory=dict)
    constant_nodes: dict[Node, Node] = field(default_factory=dict)
    chip_values: set[Value] = field(default_factory=set)


def fold(graph: Graph, outer: Folded | None = None, unfolded: Collection[Node] = ()) -> Folded:
    """Folds one graph (not its bodies). ``unfolded`` lists consumers whose chip is open.

    ``outer`` is the folding of the graph around, whose constants a body sees.
    """
    result = Folded()
    if outer is not None:
        result.arrays.update(outer.arrays)
        result.chip_values |= outer.chip_values
    result.arrays.update(graph.initializers)
    constant = _constant_values(graph, result, outer)
    shape_nodes = _shape_nodes(graph, constant)
    opened = _opened(graph, shape_nodes, unfolded)
    kept = set(graph.outputs)
    for node in graph.nodes:
        is_output = any(value in kept for value in node.outputs)
        foldable = node.outputs and not is_output
        if foldable and all(value in constant for value in node.outputs):
            continue
        if foldable and node in shape_nodes and node not in opened:
            result.chip_values.update(node.outputs)
            continue
        result.nodes.append(node)
        result.constants[node] = [v for v in node.inputs if v is not None and v in constant]
        chip = _ancestors(node, shape_nodes, opened, kept)
        if chip:
            result.chips[node] = chip
    _attribute_constants(graph, result)
    return result


def _constant_values(graph: Graph, result: Folded, outer: Folded | None) -> set[Value]:
    """Values that depend on initializers and constants alone, initializers included."""
    fed = {v for v in graph.inputs if v not in graph.initializers}
    constant: set[Value] = set(graph.initializers)
    if outer is not None:
        constant.update(outer.arrays)
    constant -= fed
    for node in graph.nodes:
        operands = [value for value in node.inputs if value is not None]
        random = node.op_type.startswith("Random") or node.op_type in ("Bernoulli", "Multinomial")
        if random or any(True for _ in node.subgraphs()):
            continue
        if all(value in constant for value in operands):
            constant.update(node.outputs)
            array = node.attributes.get("value")
            if node.op_type == "Constant" and isinstance(array, np.ndarray) and node.outputs:
                result.arrays[node.outputs[0]] = array
    return constant


def _shape_nodes(graph: Graph, constant: set[Value]) -> set[Node]:
    """Nodes that compute with sizes alone: from Shape on, through small integer arithmetic."""
    derived: set[Value] = set()
    nodes: set[Node] = set()
    for node in graph.nodes:
        operands = [value for value in node.inputs if value is not None]
        if node.op_type in _SOURCES_OF_SHAPE:
            belongs = True
        elif node.op_type in _SHAPE_ARITHMETIC:
            known = all(value in constant or value in derived for value in operands)
            belongs = known and any(value in derived for value in operands) and _is_small(node)
        else:
            belongs = False
        if belongs:
            nodes.add(node)
            derived.update(node.outputs)
    return nodes


def _is_small(node: Node) -> bool:
    # ConstantOfShape and Range leave shape arithmetic: their results are data.
    return all(
        (value.dtype is None or value.dtype.kind in "iub")
        and (value.rank is None or value.rank <= _MAX_RANK_OF_SHAPE)
        for value in node.outputs
    ) and node.op_type not in ("ConstantOfShape", "Range", "Expand", "Tile")


def _ancestors(
    node: Node, shape_nodes: set[Node], opened: set[Node], kept: set[Value]
) -> tuple[Node, ...]:
    """Folded shape arithmetic upstream of ``node``, nearest last."""
    found: dict[Node, None] = {}
    pending = [value.producer for value in node.inputs if value is not None]
    while pending and len(found) < _MAX_MEMBERS:
        producer = pending.pop()
        if producer is None or producer not in shape_nodes or producer in opened:
            continue
        if producer in found or any(value in kept for value in producer.outputs):
            continue
        found[producer] = None
        pending.extend(value.producer for value in producer.inputs if value is not None)
    return tuple(reversed(found))


def _opened(graph: Graph, shape_nodes: set[Node], unfolded: Collection[Node]) -> set[Node]:
    """Shape arithmetic that is drawn node by node: upstream of the consumers asked for."""
    opened: set[Node] = set()
    if unfolded:
        for node in graph.nodes:
            if node in unfolded:
                opened.update(_ancestors(node, shape_nodes, set(), set()))
    return opened


def _attribute_constants(graph: Graph, result: Folded) -> None:
    """Maps every folded node to the first node that stays and shows it."""
    shown = set(result.nodes)
    owner: dict[Node, Node] = {}
    for node, chip in result.chips.items():
        for member in chip:
            owner.setdefault(member, node)
    consumers = graph.consumers()
    for node in reversed(graph.nodes):
        if node in shown or node in owner:
            continue
        for value in node.outputs:
            for consumer in consumers.get(value, ()):
                target = consumer if consumer in shown else owner.get(consumer)
                if target is not None:
                    owner.setdefault(node, target)
                    break
    result.constant_nodes = owner
