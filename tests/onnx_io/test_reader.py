"""Models of every kind that ONNX allows, as graphs."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from onemodel.axes.extent import Extent
from onemodel.graph.dtypes import dtype_of_element
from onemodel.onnx_io.errors import ModelError, UnsupportedOperatorsError
from onemodel.onnx_io.reader import from_bytes, from_model_proto, load
from onemodel.onnx_io.tensors import read_tensor, tensor_proto
from onemodel.onnx_io.writer import to_model_proto


def model(text: str) -> onnx.ModelProto:
    return parser.parse_model(text)


SIMPLE = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[N, 3] x) => (float[N, 3] y) <float w = {2.0}> { t = Mul (x, w) y = Relu (t) }
"""


def test_names_types_symbols_and_constants_are_read():
    graph = from_model_proto(model(SIMPLE))
    assert [v.name for v in graph.inputs] == ["x"] and graph.opset == 20
    assert graph.inputs[0].shape == (Extent.symbol("N"), 3)
    assert [n.op_type for n in graph.nodes] == ["Mul", "Relu"]
    (weight,) = graph.initializers
    assert weight.name == "w" and graph.initializers[weight] == np.float32(2)
    assert graph.value("t").dtype == np.float32, "follows from the schema, the file says nothing"


def test_bytes_and_files_read_alike(tmp_path):
    data = model(SIMPLE).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(data)
    one, two = to_model_proto(from_bytes(data)), to_model_proto(load(tmp_path / "m.onnx"))
    assert one == two


def test_unsorted_nodes_are_sorted_and_noted():
    proto = model(SIMPLE)
    nodes = list(proto.graph.node)[::-1]
    del proto.graph.node[:]
    proto.graph.node.extend(nodes)
    graph = from_model_proto(proto)
    assert [n.op_type for n in graph.nodes] == ["Mul", "Relu"]
    assert "order" in " ".join(graph.metadata)


def test_omitted_inputs_are_none_and_trailing_ones_are_dropped():
    graph = from_model_proto(
        model(
            '<ir_version: 10, opset_import: ["" : 20]>'
            "g (float[2] x, float hi) => (float[2] y)"
            '{ t = Clip (x, "", hi) y = Clip (t, "", "") }'
        )
    )
    assert [v and v.name for v in graph.nodes[0].inputs] == ["x", None, "hi"]
    assert [v and v.name for v in graph.nodes[1].inputs] == ["t"]


def test_an_initializer_that_is_an_input_stays_both():
    proto = model(SIMPLE)
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, []))
    graph = from_model_proto(proto)
    assert [v.name for v in graph.inputs] == ["x", "w"]
    assert graph.inputs[1] in graph.initializers


def test_before_ir_version_4_initializers_are_constants_and_no_inputs():
    proto = model(SIMPLE)
    proto.ir_version = 3
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, []))
    assert [v.name for v in from_model_proto(proto).inputs] == ["x"]


def test_bodies_see_the_values_around_them():
    graph = from_model_proto(
        model(
            '<ir_version: 10, opset_import: ["" : 20]>'
            "g (bool c, float[2] x) => (float[2] y) {"
            " t = Neg (x)"
            " y = If (c) <then_branch = a () => (float[2] p) { p = Abs (t) },"
            "             else_branch = b () => (float[2] q) { q = Identity (x) }> }"
        )
    )
    then = graph.nodes[1].attributes["then_branch"]
    assert then.nodes[0].inputs[0] is graph.value("t")
    assert graph.consumers()[graph.value("x")] == graph.nodes


def test_a_body_that_shadows_a_name_is_renamed_and_noted():
    graph = from_model_proto(
        model(
            '<ir_version: 10, opset_import: ["" : 20]>'
            "g (bool c, float[2] x, float[2] t) => (float[2] y) {"
            " y = If (c) <then_branch = a () => (float[2] p) { x = Abs (t) p = Neg (x) },"
            "             else_branch = b () => (float[2] q) { q = Identity (x) }> }"
        )
    )
    inner = graph.nodes[0].attributes["then_branch"].nodes
    assert inner[0].outputs[0].name == "x__1" and inner[1].inputs[0] is inner[0].outputs[0]
    other = graph.nodes[0].attributes["else_branch"].nodes
    assert other[0].inputs[0] is graph.inputs[1]
    assert any("renamed" in key for key in graph.metadata)


FUNCTIONS = """
<ir_version: 10, opset_import: ["" : 20, "local" : 1]>
g (float[2] x) => (float[2] y, float[2] z) {
  y, z = local.outer <alpha = 0.5> (x)
}
<domain: "local", opset_import: ["" : 20, "local" : 1]>
outer <alpha> (a) => (b, a) { t = local.inner <slope: float = @alpha> (a) b = Neg (t) }
<domain: "local", opset_import: ["" : 20]>
inner <slope: float = 2.0> (p) => (q) { q = LeakyRelu <alpha: float = @slope> (p) }
"""


def test_functions_are_inlined_with_their_attributes():
    graph = from_model_proto(model(FUNCTIONS))
    assert [n.op_type for n in graph.nodes] == ["LeakyRelu", "Neg", "Identity"]
    assert graph.nodes[0].attributes == {"alpha": 0.5}
    assert [v.name for v in graph.outputs] == ["y", "z"]
    onnx.checker.check_model(to_model_proto(graph), full_check=True)


def test_a_function_that_calls_itself_is_refused():
    text = FUNCTIONS.replace("q = LeakyRelu <alpha: float = @slope> (p)", "q = local.outer (p)")
    with pytest.raises(ModelError, match="calls itself"):
        from_model_proto(model(text.replace('["" : 20]>\ninner', '["" : 20, "local" : 1]>\ninner')))


def test_functions_that_multiply_beyond_reason_are_refused(monkeypatch):
    monkeypatch.setattr("onemodel.onnx_io.nodes.MAX_NODES", 1000)
    head = (
        '<ir_version: 10, opset_import: ["" : 20, "local" : 1]>\n'
        "g (float[2] x) => (float[2] y) { y = local.f40 (x) }\n"
    )
    body = '<domain: "local", opset_import: ["" : 20, "local" : 1]>\n'
    text = head + body + "f0 (a) => (b) { b = Neg (a) }\n"
    for level in range(1, 41):
        inner = f"local.f{level - 1}"
        text += body + f"f{level} (a) => (b) {{ t = {inner} (a) b = {inner} (t) }}\n"
    with pytest.raises(ModelError, match="1000 nodes"):
        from_model_proto(model(text))


def test_types_that_are_no_tensors_are_kept_as_text():
    graph = from_model_proto(
        model(
            '<ir_version: 10, opset_import: ["" : 20]>'
            "g (seq(float[N]) s, optional(float) o, string[2] t) => (float y)"
            "{ i = Constant <value_int = 0> () y = SequenceAt (s, i) }"
        )
    )
    assert [v.type_text for v in graph.inputs] == [
        "seq(tensor(float))",
        "optional(tensor(float))",
        "",
    ]
    assert graph.inputs[2].dtype == np.dtype(object)
    again = to_model_proto(graph)
    assert again.graph.input[0].type.sequence_type.elem_type.tensor_type.elem_type == 1


@pytest.mark.parametrize("element", [n for n in TensorProto.DataType.values() if n])
def test_every_element_type_goes_through_bytes_and_back(element):
    dtype = dtype_of_element(element)
    if element == TensorProto.STRING:
        array = np.array([["a", "ü"], ["", "c"]], object)
    else:
        array = np.array([[2, 1, 1], [1, 2, 1]]).astype(np.float32).astype(dtype)
    proto = tensor_proto(array, "t")
    assert proto == numpy_helper.from_array(array, "t")
    back = read_tensor(proto, "t")
    assert back.dtype == dtype and (back == array).all()


def test_typed_fields_are_read_as_onnx_reads_them():
    for element, values in [
        (TensorProto.FLOAT16, [0.5, -2.0, 3.0]),
        (TensorProto.BFLOAT16, [0.5, -2.0, 3.0]),
        (TensorProto.INT4, [-8, 7, 1]),
        (TensorProto.UINT4, [0, 15, 1]),
        (TensorProto.UINT32, [0, 2**32 - 1, 1]),
        (TensorProto.BOOL, [1, 0, 1]),
        (TensorProto.COMPLEX64, [1 + 2j, 0, -1j]),
        (TensorProto.FLOAT8E4M3FN, [0.5, -2.0, 3.0]),
    ]:
        proto = helper.make_tensor("t", element, [3], values)
        np.testing.assert_array_equal(read_tensor(proto, "t"), numpy_helper.to_array(proto))
    assert read_tensor(helper.make_tensor("t", TensorProto.INT4, [1], [-3]), "t").dtype == (
        ml_dtypes.int4
    )


def test_sparse_initializers_become_dense():
    proto = model(SIMPLE)
    values = numpy_helper.from_array(np.array([5.0], np.float32), "w2")
    sparse = helper.make_sparse_tensor(values, numpy_helper.from_array(np.array([4])), [2, 3])
    proto.graph.sparse_initializer.append(sparse)
    graph = from_model_proto(proto)
    np.testing.assert_array_equal(
        graph.initializers[graph.value("w2")], np.array([[0, 0, 0], [0, 5, 0]], np.float32)
    )


def test_all_unknown_operators_are_told_in_one_error():
    proto = model(
        '<ir_version: 10, opset_import: ["" : 12, "com.example" : 1]>'
        "g (float[2] x) => (float[2] y)"
        "{ t = Gelu (x) u = com.example.Twist (t) y = Nonsense (u) }"
    )
    proto.graph.node[1].name = "twist_7"
    with pytest.raises(UnsupportedOperatorsError) as caught:
        from_model_proto(proto, file="m.onnx")
    text = str(caught.value)
    for word in ("m.onnx", "Gelu", "opset 12", "com.example::Twist", "twist_7", "Nonsense"):
        assert word in text
    assert len(caught.value.operators) == 3
    kept = from_model_proto(proto, allow_unknown=True)
    assert kept.nodes[1].domain == "com.example"


@pytest.mark.parametrize("opset", range(1, onnx.defs.onnx_opset_version() + 1))
def test_every_opset_is_read(opset):
    node = helper.make_node("Add", ["x", "x"], ["y"])
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    proto = helper.make_model(
        helper.make_graph([node], "g", [info], [out]),
        opset_imports=[helper.make_opsetid("", opset)],
    )
    assert from_model_proto(proto).opset == opset
