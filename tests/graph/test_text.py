"""The printed form of graphs."""

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.errors import CallSite
from onemodel.graph.ir import Graph, Node, Origin, Value
from onemodel.graph.text import to_text


def small_graph() -> Graph:
    f32 = np.dtype(np.float32)
    x = Value("x", f32, (Extent.symbol("batch"), 3))
    w = Value("w", f32, (3, 2))
    shape = Value("shape", np.dtype(np.int64), (2,))
    y, z = Value("y", f32, (Extent.symbol("batch"), 2)), Value("z", f32, None)
    site = CallSite("model.py", 3, 3, 4, 9, "forward", "    x @ w")
    matmul = Node("MatMul", [x, w], [y], origin=Origin(site, "layers.0", "matmul", 1))
    reshape = Node("Reshape", [y, shape], [z], {"allowzero": 1})
    y.producer, z.producer = matmul, reshape
    return Graph(
        name="small",
        inputs=[x],
        outputs=[z],
        nodes=[matmul, reshape],
        initializers={w: np.ones((3, 2), np.float32), shape: np.array([-1, 2])},
        opsets={"": 20},
    )


def test_every_value_is_printed_with_dtype_and_shape():
    assert to_text(small_graph()) == (
        'graph "small" (ai.onnx 20) {\n'
        "  input %x: float32[batch, 3]\n"
        "  constant %w: float32[3, 2] = float32[3, 2]\n"
        "  constant %shape: int64[2] = int64[2] [-1, 2]\n"
        "  %y: float32[batch, 2] = MatMul(%x, %w)\n"
        "  %z: float32[...] = Reshape<allowzero=1>(%y, %shape)\n"
        "  return %z\n"
        "}\n"
    )


def test_origins_are_printed_only_when_asked_for():
    assert "MatMul(%x, %w)  # layers.0 model.py:3\n" in to_text(small_graph(), origins=True)


def test_hostile_names_stay_on_their_line_and_in_quotes():
    x = Value('evil"\n%y = Boom(', np.dtype(np.float32), ())
    text = to_text(Graph(inputs=[x], outputs=[x]))
    assert len(text.splitlines()) == 4
    assert '%"evil\\"\\n%y = Boom("' in text


def test_bodies_are_printed_below_their_node_and_omitted_values_as_underscores():
    c, y = Value("c", np.dtype(bool), ()), Value("y")
    inner = Value("inner")
    body_node = Node("Clip", [c, None], [Value(""), inner])
    body = Graph(name="body", nodes=[body_node], outputs=[inner])
    node = Node("If", [c], [y], {"then_branch": body, "else_branch": body})
    text = to_text(Graph(inputs=[c], outputs=[y], nodes=[node]))
    assert "    then_branch:\n" in text and text.index("else_branch") < text.index("then_branch")
    assert "        _, %inner: ?[...] = Clip(%c, _)\n" in text
