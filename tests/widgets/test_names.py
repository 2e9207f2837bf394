"""Names are shown as they are, or harmlessly; modules are found in whatever an exporter left."""

from __future__ import annotations

import pytest

from onemodel.errors import CallSite
from onemodel.graph.ir import Node, Origin, Value
from onemodel_widgets.views import places
from onemodel_widgets.views.measure import text_width
from onemodel_widgets.views.names import clean, scope_of, scopes_of, shorten


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain:/.name", "plain:/.name"),
        ("漢字 é", "漢字 é"),
        ("a\nb\tc", "a␤b c"),
        ("nul\x00 bell\x07", "nul� bell�"),
        ("\u202eevil", "�evil"),
        ("\ud800", "�"),
    ],
)
def test_what_cannot_be_seen_is_made_visible(text, shown):
    assert clean(text) == shown
    clean(text).encode("utf-8")


def test_long_names_are_cut_in_their_middle():
    name = "model." + "x" * 10_000 + ".weight"
    short = shorten(name, 20)
    assert len(short) == 20
    assert short.startswith("model.")
    assert short.endswith(".weight")


@pytest.mark.parametrize(
    "node, scope",
    [
        (
            Node("Relu", [], [], origin=Origin(scope="encoder.layers.0.attn")),
            ("encoder", "layers.0", "attn"),
        ),
        (Node("Relu", [], [], name="/layer1/layer1.0/conv1/Conv"), ("layer1.0", "conv1")),
        (Node("Relu", [], [], name="block_7/op_350"), ("block_7",)),
        (Node("Relu", [], [], name="relu"), ()),
        (
            Node(
                "Relu",
                [],
                [],
                name="a/b",
                metadata={"pkg.torch.onnx.name_scopes": "['', 'b.0', 'b.0.a', 'view']"},
            ),
            ("b.0", "a"),
        ),
        (
            Node(
                "Relu", [], [], name="a/b", metadata={"pkg.torch.onnx.name_scopes": "['', 'view']"}
            ),
            (),
        ),
        (
            Node(
                "Relu",
                [],
                [],
                name="x/y",
                metadata={"pkg.torch.onnx.name_scopes": "__import__('os')"},
            ),
            ("x",),
        ),
        (
            Node(
                "Relu",
                [],
                [],
                origin=Origin(scope=": m.Bert/b.0: m.Enc/b.0.a: m.MHA/view: aten.view"),
            ),
            ("b.0", "a"),
        ),
    ],
)
def test_the_module_of_a_node_is_found(node, scope):
    assert scope_of(node) == scope


def test_a_node_that_says_nothing_belongs_where_its_neighbours_do():
    x = Value("x")
    before = Node("Relu", [x], [], name="/a/b/first")
    before.outputs.append(Value("y", producer=before))
    silent = Node("Split", [before.outputs[0]], [])
    silent.outputs.append(Value("z", producer=silent))
    after = Node("Relu", [silent.outputs[0]], [], name="/a/c/last")
    assert scopes_of([before, silent, after])[silent] == ("a",)


def test_a_pytorch_stack_gives_the_source_line():
    node = Node(
        "MatMul",
        [],
        [],
        metadata={
            "pkg.torch.onnx.stack_trace": 'File "net.py", line 3, in forward\n    y = f(x)\n'
            '  File "net.py", line 9, in forward\n    return x @ w\n'
            '  File "/v/site-packages/torch/nn/modules/linear.py", line 134, in forward\n    F()'
        },
    )
    site = places.site_of(node)
    assert site is not None
    assert (places.place(site), site.expression) == ("net.py:9", "return x @ w")
    assert places.site_of(Node("Relu", [], [])) is None


def test_places_show_two_parts_of_a_path_and_the_number_of_a_cell():
    site = CallSite("/home/me/project/models/net.py", 9, 9, 0, 5, "f", "x + y")
    assert places.place(site) == "models/net.py:9"
    cell = CallSite("/tmp/ipykernel_7/123.py", 4, 4, 0, 5, "f", "x + y", cell=6)
    assert places.place(cell) == "In[6]:4"
    unnumbered = CallSite("/tmp/ipykernel_7/123.py", 4, 4, 0, 5, "f", "x + y")
    assert places.place(unnumbered) == "cell:4"
    assert places.place(None) == ""


def test_text_is_measured_by_its_characters():
    assert text_width("iiii", 12) < text_width("MMMM", 12) < text_width("漢漢漢漢", 12)
    assert text_width("iiii", 12, mono=True) == text_width("MMMM", 12, mono=True)
    assert text_width("abc", 12, bold=True) > text_width("abc", 12)
