"""The rules that every graph keeps."""

import numpy as np
import pytest

from onemodel.graph.check import check
from onemodel.graph.copy import copy_graph
from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Graph, Node, Value
from onemodel.graph.text import to_text

F32 = np.dtype(np.float32)


def value(name: str) -> Value:
    return Value(name, F32, (2,))


def node(op_type: str, inputs: list[Value | None], outputs: list[Value], **attributes) -> Node:
    made = Node(op_type, inputs, outputs, attributes, name=f"n_{outputs[0].name}")
    for output in outputs:
        output.producer = made
    return made


def chain() -> Graph:
    x, y, z = value("x"), value("y"), value("z")
    nodes = [node("Relu", [x], [y]), node("Neg", [y], [z])]
    return Graph(inputs=[x], outputs=[z], nodes=nodes, opsets={"": 20})


def refused(graph: Graph, *words: str) -> GraphError:
    with pytest.raises(GraphError) as caught:
        check(graph)
    for word in words:
        assert word in str(caught.value)
    return caught.value


def test_a_chain_is_accepted():
    check(chain())


def test_nodes_out_of_order_are_refused():
    graph = chain()
    graph.nodes.reverse()
    error = refused(graph, "n_z", "'y'", "later node")
    assert error.value == "y" and "Neg" in error.node


def test_an_undefined_input_is_refused():
    graph = chain()
    graph.nodes[0].inputs[0] = value("ghost")
    refused(graph, "ghost", "not defined")


def test_a_name_written_twice_is_refused():
    graph = chain()
    graph.nodes[1].outputs[0].name = "x"
    refused(graph, "'x'", "twice")


def test_a_value_written_twice_is_refused():
    graph = chain()
    extra = node("Abs", [graph.inputs[0]], [graph.outputs[0]])
    extra.name = "extra"
    graph.nodes.append(extra)
    refused(graph, "'z'", "producer")


def test_two_nodes_of_one_name_are_refused():
    graph = chain()
    graph.nodes[1].name = graph.nodes[0].name
    refused(graph, "n_y", "two nodes")


def test_an_output_nobody_computes_is_refused():
    graph = chain()
    graph.outputs = [value("nothing")]
    refused(graph, "nothing", "not computed")


def test_an_initializer_of_another_dtype_or_rank_is_refused():
    graph = chain()
    graph.initializers[value("w")] = np.zeros((2,), np.float64)
    refused(graph, "'w'", "float64")
    graph = chain()
    graph.initializers[value("w")] = np.zeros((2, 2), np.float32)
    refused(graph, "'w'", "rank 2")


def test_a_body_may_read_outer_values_but_not_shadow_their_names():
    graph = chain()
    inner = value("inner")
    body = Graph(name="body", outputs=[inner], nodes=[node("Abs", [graph.inputs[0]], [inner])])
    out = value("out")
    graph.nodes.insert(0, node("If", [graph.inputs[0]], [out], then_branch=body, else_branch=body))
    check(graph)
    inner.name = "x"
    refused(graph, "'x'", "twice")


def test_a_copy_shares_arrays_and_nothing_else():
    graph = chain()
    weight = value("w")
    graph.initializers[weight] = np.zeros(2, np.float32)
    inner = value("inner")
    body = Graph(name="body", outputs=[inner], nodes=[node("Abs", [weight], [inner])])
    other = Graph(name="other", outputs=[weight])
    out = value("out")
    graph.nodes.append(node("If", [graph.outputs[0]], [out], then_branch=body, else_branch=other))
    twin = copy_graph(graph)
    check(twin)
    assert to_text(twin) == to_text(graph)
    assert not set(twin.values()) & set(graph.values())
    captured = twin.nodes[-1].attributes["then_branch"].nodes[0].inputs[0]
    assert captured in twin.initializers
    assert twin.initializers[captured] is graph.initializers[weight]
