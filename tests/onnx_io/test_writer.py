"""Graphs as bytes: valid, equal for equal graphs, complete or absent."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from onemodel.axes.extent import Extent
from onemodel.errors import CallSite
from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Graph, Node, Origin, Value
from onemodel.onnx_io import writer
from onemodel.onnx_io.reader import from_bytes, load
from onemodel.onnx_io.writer import save, to_bytes, to_model_proto

F32, I64 = np.dtype(np.float32), np.dtype(np.int64)
REPOSITORY = Path(__file__).parents[2]


def node(op_type, inputs, outputs, origin=None, name="", **attributes):
    made = Node(op_type, inputs, outputs, attributes, name=name, origin=origin)
    for value in outputs:
        value.producer = made
    return made


def sample(weights=(3, 2)):
    batch = Extent.symbol("batch")
    x, w = Value("x", F32, (batch, weights[0])), Value("w", F32, weights)
    y, z = Value("y", F32, (batch, weights[1])), Value("z", F32, (batch * weights[1],))
    shape = Value("shape", I64, (1,))
    site = CallSite("model.py", 7, 7, 4, 9, "forward", "    x @ w")
    first = node("MatMul", [x, w], [y], Origin(site, "layers.0", "matmul", 4), "matmul_4")
    second = node("Reshape", [y, shape], [z], name="reshape_5", allowzero=0)
    return Graph(
        name="sample",
        inputs=[x],
        outputs=[z],
        nodes=[first, second],
        initializers={
            w: np.arange(np.prod(weights), dtype=np.float32).reshape(weights),
            shape: np.array([-1]),
        },
        opsets={"": 20},
        ir_version=10,
        metadata={"b": "2", "a": "1"},
        doc="two nodes",
    )


def test_a_graph_becomes_a_model_that_the_checker_accepts():
    model = to_model_proto(sample())
    onnx.checker.check_model(model, full_check=True)
    dims = model.graph.output[0].type.tensor_type.shape.dim
    assert dims[0].dim_param == "2*batch"
    assert [info.name for info in model.graph.value_info] == ["y"]
    assert [entry.key for entry in model.metadata_props] == ["a", "b"]


def test_bytes_are_those_of_protobuf_itself():
    assert to_bytes(sample()) == to_model_proto(sample()).SerializeToString(deterministic=True)


def test_bytes_do_not_depend_on_the_hash_seed():
    program = (
        "import hashlib, runpy, sys\n"
        "space = runpy.run_path(sys.argv[1])\n"
        "print(hashlib.sha256(space['to_bytes'](space['sample']())).hexdigest())\n"
    )
    digests = set()
    for seed in ("0", "1", "random"):
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-c", program, __file__]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        digests.add(done.stdout)
    assert len(digests) == 1


def test_attributes_are_sorted_whatever_order_they_were_given_in():
    def conv(**attributes):
        x, w, y = Value("x", F32, (1, 1, 4)), Value("w", F32, (1, 1, 2)), Value("y", F32, None)
        made = node("Conv", [x, w], [y], **attributes)
        return Graph(inputs=[x, w], outputs=[y], nodes=[made], opsets={"": 20})

    one = to_bytes(conv(strides=[1], dilations=[1], group=1))
    assert one == to_bytes(conv(group=1, dilations=[1], strides=[1]))


def test_the_origin_of_a_node_travels_as_metadata_and_comes_back():
    graph = from_bytes(to_bytes(sample()))
    origin = graph.nodes[0].origin
    assert (origin.scope, origin.operator, origin.record) == ("layers.0", "matmul", 4)
    assert origin.site.place == "model.py:7" and origin.site.function == "forward"
    assert origin.site.expression == "x @ w"
    assert graph.metadata == {"a": "1", "b": "2"} and graph.doc == "two nodes"


def test_a_notebook_cell_is_an_origin_too():
    graph = sample()
    site = CallSite("<ipython-input>", 4, 4, None, None, "f", "x @ w", cell=6)
    graph.nodes[0].origin = Origin(site)
    assert from_bytes(to_bytes(graph)).nodes[0].origin.site.place == "In[6]:4"


def test_stripped_bytes_hold_no_metadata():
    data = to_bytes(sample(), strip_metadata=True)
    for secret in (b"model.py", b"layers.0", b"two nodes", b"metadata"):
        assert secret not in data
    bare = sample()
    bare.metadata, bare.doc, bare.nodes[0].origin = {}, "", None
    assert data == to_bytes(bare)


def test_reading_and_writing_again_gives_the_same_bytes():
    data = to_bytes(sample())
    assert to_bytes(from_bytes(data)) == data


def test_whole_numbers_become_floats_where_the_schema_says_so():
    x, y = Value("x", F32, (2,)), Value("y", F32, (2,))
    graph = Graph(inputs=[x], outputs=[y], nodes=[node("Elu", [x], [y], alpha=1)])
    graph.opsets = {"": 20}
    model = to_model_proto(graph)
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.node[0].attribute[0].type == onnx.AttributeProto.FLOAT


def test_an_attribute_of_an_impossible_value_names_node_and_attribute():
    graph = sample()
    graph.nodes[1].attributes["allowzero"] = "often"
    with pytest.raises(GraphError, match=r"reshape_5.*'allowzero'"):
        to_bytes(graph)


def test_an_input_without_dtype_is_refused_by_name():
    graph = sample()
    graph.inputs[0].dtype = None
    with pytest.raises(GraphError, match="'x'"):
        to_bytes(graph)


def test_bodies_are_written_with_their_captures():
    c, x, y = Value("c", np.dtype(bool), ()), Value("x", F32, (2,)), Value("y", F32, (2,))
    bodies = []
    for op_type in ("Neg", "Abs"):
        out = Value(f"out_{op_type}", F32, (2,))
        bodies.append(Graph(name=op_type, outputs=[out], nodes=[node(op_type, [x], [out])]))
    choose = node("If", [c], [y], then_branch=bodies[0], else_branch=bodies[1])
    graph = Graph(inputs=[c, x], outputs=[y], nodes=[choose], opsets={"": 20})
    data = to_bytes(graph)
    onnx.checker.check_model(onnx.load_from_string(data), full_check=True)
    assert to_bytes(from_bytes(data)) == data


def test_external_data_lie_beside_the_model_and_load_again(tmp_path):
    graph = sample((64, 32))
    save(graph, tmp_path / "m.onnx", external_data=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.onnx", "m.onnx.data"]
    assert (tmp_path / "m.onnx").stat().st_size < 2000
    onnx.checker.check_model(str(tmp_path / "m.onnx"), full_check=True)
    weights = {v.name: a for v, a in load(tmp_path / "m.onnx").initializers.items()}
    for value, array in graph.initializers.items():
        np.testing.assert_array_equal(weights[value.name], array)
    theirs = onnx.load(tmp_path / "m.onnx")
    np.testing.assert_array_equal(
        onnx.numpy_helper.to_array(theirs.graph.initializer[0]), weights["w"]
    )


def test_a_model_too_large_for_protobuf_goes_outside_by_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "MAX_PROTO", 4096)
    graph = sample((64, 32))
    with pytest.raises(GraphError, match="external_data=True"):
        to_bytes(graph)
    with pytest.raises(GraphError, match="external_data=True"):
        save(graph, tmp_path / "no.onnx", external_data=False)
    assert not list(tmp_path.iterdir())
    save(graph, tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx.data").exists()


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "m.onnx"
    save(sample(), path)
    before = path.read_bytes()

    def broken(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk full"):
        save(sample((4, 4)), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]
