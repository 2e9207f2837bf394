"""What is drawn is decided before anything is laid out: folding, modules, repeats, fan-out."""

from __future__ import annotations

import numpy as np
import pytest

from onemodel.graph.ir import Graph, Node, Value
from onemodel_widgets.views.scene import (
    LABELLED_EDGES,
    MAX_PORTS,
    Refusal,
    first_opened,
    make_scene,
    outline,
    path_to,
)
from tests.widgets import samples


def scene_of(graph: Graph, opened=None, budget: int = 150):
    outlined = outline(graph)
    return make_scene(outlined, first_opened(outlined, budget) if opened is None else opened)


def titles(scene, kind="node"):
    return [box.title for box in scene.boxes if box.kind == kind]


def test_constants_become_lines_in_the_label_of_their_reader():
    scene = scene_of(samples.cnn())
    conv = scene.box("conv1")
    assert conv is not None
    assert conv.lines == ("3×3", "weight [8, 1, 3, 3]", "bias [8]")
    assert not any("weight" in box.name for box in scene.boxes)


def test_computed_constants_are_folded_and_still_found_by_a_selection():
    b = samples.Builder()
    x = b.input("x", (2, 4))
    w = b.constant("fc.weight", np.zeros((3, 4), np.float32))
    wt = b.node("Transpose", w, name="wt", perm=[1, 0])
    graph = b.finish(b.node("MatMul", x, wt, name="fc", shape=(2, 3)))
    scene = scene_of(graph)
    assert titles(scene) == ["MatMul"]
    assert scene.box("wt") is scene.box("fc")
    assert scene.box("fc").lines == ("transpose of weight",)


def test_a_scalar_constant_shows_its_number():
    b = samples.Builder()
    half = b.constant("half", np.float32(0.5))
    graph = b.finish(b.node("Mul", b.input("x", (2,)), half, name="scale", shape=(2,)))
    assert scene_of(graph).box("scale").lines == ("0.5",)


def test_shape_arithmetic_is_one_chip_that_opens():
    graph = samples.cnn()
    outlined = outline(graph)
    closed = make_scene(outlined, first_opened(outlined))
    (chip,) = [box for box in closed.boxes if box.kind == "shape"]
    assert chip.title == "shape [batch, 128]"
    assert chip.count == 2
    assert closed.box("flatten.concat").name == "flatten"
    opened = make_scene(outlined, {*closed.opened, chip.opens})
    assert "Shape" in titles(opened)
    assert "Concat" in titles(opened)
    assert chip.opens in opened.opened


def test_a_graph_output_that_is_shape_arithmetic_stays_a_node():
    b = samples.Builder()
    size = b.node("Shape", b.input("x", (2, 3)), name="size", shape=(2,), dtype="int64")
    assert titles(scene_of(b.finish(size))) == ["Shape"]


def test_modules_are_clusters_and_close_to_one_box():
    outlined = outline(samples.encoder(2))
    every = set(outlined.groups) - {""}
    scene = make_scene(outlined, every)
    keys = [cluster.key for cluster in scene.clusters]
    assert keys == [
        "layers.0",
        "layers.0.attn",
        "layers.0.mlp",
        "layers.1",
        "layers.1.attn",
        "layers.1.mlp",
    ]
    closed = make_scene(outlined, every - {"layers.1", "layers.1.attn", "layers.1.mlp"})
    box = closed.box("layers.1")
    assert (box.kind, box.count, box.opens) == ("group", 14, "layers.1")
    assert closed.box("layers.1.attn.q") is box


def test_a_module_of_one_node_is_that_node():
    assert [c.key for c in scene_of(samples.cnn()).clusters] == []


def test_identical_modules_in_a_row_fold_to_a_repeat():
    scene = scene_of(samples.encoder(12))
    (repeat,) = [box for box in scene.boxes if box.kind == "repeat"]
    assert repeat.title.endswith("×12")
    assert repeat.lines == ("14 nodes each, 168 in all",)
    opened = scene_of(samples.encoder(12), {repeat.opens})
    assert sum(box.kind == "group" for box in opened.boxes) == 12


def test_modules_that_differ_do_not_fold():
    graph = samples.encoder(6)
    odd = next(node for node in graph.nodes if node.name == "layers.3.mlp.gelu")
    odd.op_type = "Relu"
    kinds = [(box.kind, box.title) for box in scene_of(graph, set()).boxes]
    assert ("group", "layers.3") in kinds
    assert [t for k, t in kinds if k == "repeat"] == ["layers.0 … layers.2  ×3"]


def test_whole_levels_open_within_the_budget_and_a_small_graph_opens_in_full():
    graph = samples.encoder(4)
    assert not [b for b in scene_of(graph, budget=200).boxes if b.kind in ("group", "repeat")]
    for budget in (5, 20, 40):
        assert len(scene_of(graph, budget=budget).boxes) <= budget + 6


def test_the_focus_is_opened_whatever_the_budget():
    outlined = outline(samples.encoder(12))
    opened = first_opened(outlined, 10, focus="layers.7.attn.softmax")
    scene = make_scene(outlined, opened)
    box = scene.box("layers.7.attn.softmax")
    assert (box.kind, box.title) == ("node", "Softmax")
    assert path_to(outlined, "layers.7.attn.softmax") <= opened
    assert scene.box("layers.6").kind == "group"


@pytest.mark.parametrize("length", [300, 1000, 10_000])
def test_a_long_graph_without_modules_is_cut_into_stretches(length):
    scene = scene_of(samples.chain(length))
    assert len(scene.boxes) <= 200
    assert scene.total == length
    assert len(scene.where) == length


def test_scopes_in_names_fold_five_thousand_nodes_and_open_one_by_one():
    graph = samples.chain(5000, scopes=100, shared_every=0)
    outlined = outline(graph)
    scene = make_scene(outlined, first_opened(outlined))
    assert len(scene.boxes) <= 200
    opened = make_scene(outlined, {*scene.opened, "block_7", *path_to(outlined, "block_7")})
    inside = [box for box in opened.boxes if box.cluster and box.kind == "node"]
    assert [box.name for box in inside] == [f"op_{i}" for i in range(350, 400)]


def test_far_readers_of_a_shared_value_get_reference_chips():
    graph = samples.encoder(12)
    outlined = outline(graph)
    repeat = next(key for key, group in outlined.groups.items() if group.kind == "repeat")
    scene = make_scene(outlined, {repeat})
    chips = [box for box in scene.boxes if box.kind == "reference"]
    assert len(chips) >= 6
    assert {chip.name for chip in chips} == {"input:mask"}
    assert scene.box("input:mask").kind == "input"
    mask = next(edge.value for edge in scene.edges if edge.name == "mask")
    assert sum(edge.value == mask for edge in scene.edges) == 12


def test_a_skip_connection_is_not_cut():
    b = samples.Builder()
    x = y = b.input("x", (4,))
    for index in range(30):
        y = b.node("Relu", y, name=f"relu{index}", shape=(4,))
    graph = b.finish(b.node("Add", y, x, name="skip", shape=(4,)))
    assert not [box for box in scene_of(graph).boxes if box.kind == "reference"]


def test_edges_carry_shapes_while_they_are_few_and_boxes_do_beyond():
    few = scene_of(samples.cnn())
    assert few.labelled
    assert {edge.label for edge in few.edges} >= {"[batch, 8, 8, 8]", "[batch, 10]"}
    many = scene_of(samples.encoder(4), budget=500)
    assert len(many.edges) > LABELLED_EDGES
    assert "→ [batch, time, 64]" in many.box("layers.0.attn.q").lines


def test_many_inputs_are_one_box():
    b = samples.Builder()
    inputs = [b.input(f"x{i}", (1,)) for i in range(MAX_PORTS + 1)]
    scene = scene_of(b.finish(b.node("Sum", *inputs, name="sum", shape=(1,))))
    assert titles(scene, "input") == [f"{MAX_PORTS + 1} inputs"]


def with_bodies() -> Graph:
    """x -> If(then: Relu(x), else: Neg(x)) whose bodies read x from outside."""
    b = samples.Builder("branch")
    condition = b.input("condition", (), "bool")
    x = b.input("x", (4,))
    bodies = {}
    for name, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
        inner = samples.Builder(name)
        bodies[name] = inner.finish(inner.node(op, x, name=op.lower(), shape=(4,)))
    return b.finish(b.node("If", condition, name="choose", shape=(4,), **bodies))


def test_bodies_fold_into_their_node_and_open_in_place():
    outlined = outline(with_bodies())
    closed = make_scene(outlined, set())
    box = closed.box("choose")
    assert (box.title, box.lines) == ("If", ("then_branch: 1 nodes", "else_branch: 1 nodes"))
    opened = make_scene(outlined, {group for group in outlined.groups if group})
    assert {"Relu", "Neg", "If"} == set(titles(opened))
    assert [c.title for c in opened.clusters] == ["If", "then_branch", "else_branch"]
    assert outlined.node("choose/0/relu").op_type == "Relu"
    captured = [edge for edge in opened.edges if edge.name == "x"]
    assert len(captured) == 2


def test_a_refusal_stands_below_the_value_that_met_it():
    graph = samples.cnn()
    scene = make_scene(outline(graph), set(), Refusal("pool", "bool()", "In[3]:6"))
    offence = next(box for box in scene.boxes if box.kind == "offence")
    assert (offence.title, offence.lines) == ("bool()", ("In[3]:6",))
    assert any(e.target == offence.id and e.source == scene.box("pool").id for e in scene.edges)
    assert any(box.kind == "ghost" for box in scene.boxes)


def test_an_empty_graph_and_an_output_that_is_an_input_are_drawn():
    assert scene_of(Graph()).boxes == ()
    x = Value("x", np.dtype("float32"), (1,))
    scene = scene_of(Graph(inputs=[x], outputs=[x]))
    assert [(e.source, e.target) for e in scene.edges] == [("i0", "o0")]


def test_nodes_without_names_or_with_equal_names_have_keys_of_their_own():
    x = Value("x", np.dtype("float32"), (1,))
    graph = Graph(inputs=[x])
    for name in ("same", "same", "", ""):
        node = Node("Relu", [x], [], name=name)
        node.outputs.append(Value(f"y{len(graph.nodes)}", producer=node))
        graph.nodes.append(node)
    graph.nodes.append(Node("Relu", [x], []))
    assert list(outline(graph).keys.values()) == ["same", "y1", "y2", "y3", "Relu#4"]


def test_the_same_graph_gives_the_same_scene():
    assert scene_of(samples.encoder(3)) == scene_of(samples.encoder(3))
