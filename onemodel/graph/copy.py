"""Copies of graphs: new values and nodes, the same arrays."""

from __future__ import annotations

from collections.abc import Iterable

from onemodel.graph.ir import Attribute, Graph, Node, Value


def copy_graph(graph: Graph, keep: Iterable[Value] = ()) -> Graph:
    """A deep copy of ``graph`` whose constants and attribute arrays are shared.

    Subgraphs are copied too; what they capture from outside is mapped to the
    copy's values. Functions are shared, as nothing changes them. Values in
    ``keep`` stay themselves: a part of a graph so copied still reads the rest.
    """
    return _copy(graph, {value: value for value in keep})


def _copy(graph: Graph, values: dict[Value, Value]) -> Graph:
    def value_of(value: Value) -> Value:
        found = values.get(value)
        if found is None:
            found = Value(value.name, value.dtype, value.shape, None, value.type_text)
            values[value] = found
        return found

    inputs = [value_of(value) for value in graph.inputs]
    initializers = {value_of(value): array for value, array in graph.initializers.items()}
    nodes = []
    for node in graph.nodes:
        twin = Node(
            node.op_type,
            [None if value is None else value_of(value) for value in node.inputs],
            [value_of(value) for value in node.outputs],
            {name: _copy_attribute(item, values) for name, item in node.attributes.items()},
            node.domain,
            node.name,
            node.origin,
            dict(node.metadata),
        )
        for value in twin.outputs:
            value.producer = twin
        nodes.append(twin)
    return Graph(
        name=graph.name,
        inputs=inputs,
        outputs=[value_of(value) for value in graph.outputs],
        nodes=nodes,
        initializers=initializers,
        opsets=dict(graph.opsets),
        ir_version=graph.ir_version,
        metadata=dict(graph.metadata),
        functions=graph.functions,
        doc=graph.doc,
    )


def _copy_attribute(attribute: Attribute, values: dict[Value, Value]) -> Attribute:
    if isinstance(attribute, Graph):
        return _copy(attribute, values)
    if isinstance(attribute, list):
        if attribute and isinstance(attribute[0], Graph):
            return [_copy(item, values) for item in attribute]  # type: ignore[arg-type]
        return list(attribute)  # type: ignore[return-value]
    return attribute
