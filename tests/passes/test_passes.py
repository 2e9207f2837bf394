"""Passes: what each changes, what each must leave alone, and that bits never change."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import parser

from onemodel.graph.check import check
from onemodel.graph.ir import Graph, Node
from onemodel.onnx_io.reader import from_model_proto
from onemodel.onnx_io.writer import to_model_proto
from onemodel.passes import (
    common_subexpressions,
    dead_code,
    fold_constants,
    remove_identity,
)
from onemodel.passes.pipeline import PASSES, optimize
from onemodel.session.session import Session


def read(text: str) -> Graph:
    head = '<ir_version: 10, opset_import: ["" : 20]>\n'
    return from_model_proto(parser.parse_model(head + text))


def op_types(graph: Graph) -> list[str]:
    return [node.op_type for node in graph.nodes]


def test_constant_nodes_become_initializers_with_the_kernels_bits():
    graph = read(
        "g (float[n] x) => (float[n] y) <float a = {0.1}, float b = {0.2}>"
        "{ c = Add (a, b) d = Exp (c) y = Mul (x, d) }"
    )
    result = fold_constants.run(graph)
    check(graph)
    assert op_types(graph) == ["Mul"] and result.changed == 2
    folded = graph.initializers[graph.value("d")]
    assert folded == np.exp(np.float32(0.1) + np.float32(0.2))
    assert "Add 'c' is constant" in result.notes


def test_random_numbers_defaults_and_outputs_are_not_folded():
    graph = read(
        "g (float[n] x, float w) => (float[n] y, float k) <float w = {2}>"
        "{ r = RandomNormal <shape = [1]> () v = Neg (w) t = Mul (x, v) y = Add (t, r) "
        "  k = Constant <value_float = 1.0> () }"
    )
    fold_constants.run(graph)
    assert op_types(graph) == ["RandomNormal", "Neg", "Mul", "Add", "Constant"]


@pytest.mark.parametrize(
    "node",
    [
        "ConstantOfShape (huge)",
        "Expand (one, huge)",
        "Tile (one, huge)",
        "Range (zero, most, step)",
        "Pad (one, pads)",
        'Resize <mode = "nearest"> (one, "", scales)',
        "Add (row, column)",
        "MatMul (column, row)",
        'Einsum <equation = "ij,kl->ijkl"> (column, row)',
    ],
)
def test_a_constant_that_would_fill_memory_is_left_to_the_run(node):
    graph = read(
        "g (float[n] x) => (float[m] y) <int64[1] huge = {1099511627776}, float[1] one = {1},"
        "int64 zero = {0}, int64 most = {1099511627776}, int64 step = {1},"
        "int64[2] pads = {0, 1099511627776}, float[1] scales = {1000000000000.0}>"
        f"{{ t = {node} c = Cast <to = 1> (t) y = Add (x, c) }}"
        if "row" not in node
        else "g (float[n] x, float[1, 1] row, float[1, 1] column) => (float[m] y)"
        f"{{ t = {node} y = Add (x, t) }}"
    )
    for name, shape in (("row", (1, 60000)), ("column", (60000, 1))):
        if "row" in node:
            value = graph.value(name)
            graph.inputs.remove(value)
            value.shape = shape
            graph.initializers[value] = np.ones(shape, np.float32)
    assert fold_constants.run(graph).changed == 0


def test_a_kernel_that_fails_is_left_to_the_run():
    graph = read(
        "g (float[n] x) => (float[m] y) <float[3] a = {1, 2, 3}, int64[1] s = {2}>"
        "{ t = Reshape (a, s) y = Add (x, t) }"
    )
    assert fold_constants.run(graph).changed == 0


def test_bodies_are_folded_too():
    graph = read(
        "g (bool c, float[2] x) => (float[2] y) <float k = {3}> { y = If (c) <"
        "then_branch = a () => (float[2] p) { m = Neg (k) p = Mul (x, m) },"
        "else_branch = b () => (float[2] q) { q = Neg (x) }> }"
    )
    fold_constants.run(graph)
    check(graph)
    assert op_types(graph.nodes[0].attributes["then_branch"]) == ["Mul"]
    onnx.checker.check_model(to_model_proto(graph), full_check=True)


def test_dead_nodes_and_constants_go_and_inputs_stay():
    graph = read(
        "g (float[n] x, float[n] unused) => (float[n] y) <float k = {1}, float gone = {2}>"
        "{ a = Mul (x, gone) b = Neg (a) y = Add (x, k) }"
    )
    result = dead_code.run(graph)
    check(graph)
    assert op_types(graph) == ["Add"] and result.changed == 3
    assert [v.name for v in graph.inputs] == ["x", "unused"]
    assert [v.name for v in graph.initializers] == ["k"]


def test_what_only_a_body_reads_is_alive():
    graph = read(
        "g (bool c, float[2] x) => (float[2] y) { t = Neg (x) d = Abs (x) y = If (c) <"
        "then_branch = a () => (float[2] p) { p = Abs (t) dead = Exp (d) },"
        "else_branch = b () => (float[2] q) { q = Neg (x) }> }"
    )
    dead_code.run(graph)
    check(graph)
    assert op_types(graph) == ["Neg", "If"]
    assert op_types(graph.nodes[1].attributes["then_branch"]) == ["Abs"]


@pytest.mark.parametrize(
    ("node", "removed"),
    [
        ("Identity (x)", True),
        ("Dropout (x)", True),
        ("Dropout (x, ratio, train)", False),
        ("Transpose <perm = [0, 1]> (x)", True),
        ("Transpose <perm = [1, 0]> (x)", False),
        ("Transpose (x)", False),
        ("Cast <to = 1> (x)", True),
        ("Cast <to = 11> (x)", False),
        ("Sum (x)", True),
        ("Max (x)", True),
        ("Concat <axis = 0> (x)", True),
        ("Concat <axis = 0> (x, x)", False),
    ],
)
def test_nodes_that_hand_their_input_through_go(node, removed):
    graph = read(
        "g (float[a, b] x) => (float[c, d] y) <float ratio = {0.5}, bool train = {1}>"
        f"{{ t = {node} f = Cast <to = 10> (t) y = Cast <to = 1> (f) }}"
    )
    assert remove_identity.run(graph).changed == removed
    check(graph)


def test_outputs_and_captures_of_the_graph_keep_their_identity():
    graph = read(
        "g (bool c, float[2] x) => (float[2] y, float[2] z) { t = Identity (x) z = Identity (x)"
        "y = If (c) <then_branch = a () => (float[2] p) { p = Identity (t) },"
        "            else_branch = b () => (float[2] q) { r = Identity (t) q = Neg (r) }> }"
    )
    remove_identity.run(graph)
    check(graph)
    assert op_types(graph) == ["Identity", "If"]
    branches = graph.nodes[1].attributes
    assert op_types(branches["then_branch"]) == ["Identity"]
    assert op_types(branches["else_branch"]) == ["Neg"]
    assert branches["else_branch"].nodes[0].inputs[0] is graph.value("x")
    onnx.checker.check_model(to_model_proto(graph), full_check=True)


def test_equal_nodes_are_computed_once():
    graph = read(
        "g (float[n] x) => (float[n] y)"
        "{ a = Exp (x) b = Exp (x) c = Neg (a) d = Neg (b) e = Add (c, d) y = Mul (e, b) }"
    )
    result = common_subexpressions.run(graph)
    check(graph)
    assert op_types(graph) == ["Exp", "Neg", "Add", "Mul"] and result.changed == 2


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("LeakyRelu <alpha = 0.0> (x)", "LeakyRelu <alpha = -0.0> (x)"),
        ("Elu <alpha = 1.0> (x)", "Elu <alpha = 2.0> (x)"),
        ("Clip (x, k)", "Clip (x, , k)"),
        ("RandomNormalLike (x)", "RandomNormalLike (x)"),
        ("Cast <to = 6> (x)", "Cast <to = 7> (x)"),
    ],
)
def test_nodes_that_differ_in_anything_stay_apart(one, other):
    one, other = one.replace(", ,", ', "",'), other.replace(", ,", ', "",')
    graph = read(
        f"g (float[n] x, float k) => (float[n] y) {{ a = {one} b = {other}"
        " c = Cast <to = 1> (a) d = Cast <to = 1> (b) y = Add (c, d) }"
    )
    assert common_subexpressions.run(graph).changed == 0


def with_constants(arrays: list[np.ndarray]) -> Graph:
    graph = read("g (float[n] x) => (float[n] y) { y = Neg (x) }")
    for index, array in enumerate(arrays):
        value = type(graph.inputs[0])(f"k{index}", array.dtype, array.shape)
        graph.initializers[value] = array
    return graph


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        (np.float32(2), np.float32(2), True),
        (np.float32(0.0), np.float32(-0.0), False),
        (np.float32(2), np.array(0x40000000, np.int32), False),
        (np.array(2, np.int64), np.array(4, np.int64), False),
        (np.zeros((2, 1), np.float32), np.zeros((1, 2), np.float32), False),
        (
            np.array(0x7FC00000, np.uint32).view(np.float32),
            np.array(0x7FC00001, np.uint32).view(np.float32),
            False,
        ),
        (np.array(["a"], object), np.array(["a"], object), True),
        (np.array(["a"], object), np.array(["b"], object), False),
    ],
)
def test_constants_merge_only_where_every_byte_is_equal(one, other, merged):
    graph = with_constants([np.asarray(one), np.asarray(other)])
    assert common_subexpressions.run(graph).changed == merged
    assert len(graph.initializers) == 2 - merged


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_alone_keeps_bits_names_and_rules(name):
    text = (
        "g (bool c, float[n, 4] x) => (float[n, 4] y, float[n, 4] z)"
        "<float a = {0.1}, float b = {0.1}, float[4] w = {1, -2, 3, 0.5}> {"
        " i = Identity (x) t = Mul (i, a) u = Mul (x, b) v = Add (t, u) k = Sqrt (b)"
        " dead = Neg (v) z = Add (v, k)"
        " y = If (c) <then_branch = d () => (float[n, 4] p) { m = Mul (a, b) p = Mul (v, m) },"
        "             else_branch = e () => (float[n, 4] q) { r = Identity (i) q = Sub (r, w) }> }"
    )
    graph = read(text)
    ((done, _),) = optimize(graph, [name])
    check(graph)
    assert done == name and [v.name for v in graph.outputs] == ["y", "z"]
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    plain = Session(read(text), passes=())
    for condition in (True, False):
        feeds = {"c": np.array(condition), "x": x}
        wanted, found = plain.run(feeds), Session(graph, passes=()).run(feeds)
        for output in ("y", "z"):
            assert found[output].tobytes() == wanted[output].tobytes()


def test_a_node_without_outputs_is_left_alone():
    graph = read(
        "g (float[2, 1, 3] x, float[1, 4, 3] w, float[1, 4, 4] r) => (float[2, 1, 3] y)"
        "{ y = Relu (x) }"
    )
    relu = graph.nodes[0]
    graph.nodes.insert(0, Node("RNN", list(graph.inputs), [], {"hidden_size": 4}))
    optimize(graph)
    assert graph.nodes == [relu]
