"""Broken and hostile files: always a ModelError that says where, never anything else."""

import copy
import os
import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, parser

from onemodel.onnx_io.errors import ModelError
from onemodel.onnx_io.reader import from_bytes, from_model_proto, load

TEXT = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[N, 3] x) => (float[N, 3] y) <float w = {2.0}> { [first] t = Mul (x, w) y = Relu (t) }
"""


def model() -> onnx.ModelProto:
    return parser.parse_model(TEXT)


def refused(proto: onnx.ModelProto | bytes, *words: str) -> ModelError:
    read = from_bytes if isinstance(proto, bytes) else from_model_proto
    with pytest.raises(ModelError) as caught:
        read(proto, file="bad.onnx")
    for word in ("bad.onnx", *words):
        assert word in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "0 bytes"),
        (b"\x89PNG\r\n\x1a\n0000", "PNG"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git-lfs"),
        (b"hello, this is a letter", "text"),
        (b"PK\x03\x04abcdef", "zip"),
        (b"<!DOCTYPE html><html>", "HTML"),
        (b"\x08\x0a", "no graph"),
        (b"\xff" * 40, "byte"),
        (b"\x08", "truncated"),
        (b"\x3a\x05ab", "truncated at byte 4"),
    ],
)
def test_what_is_no_model_is_called_what_it_is(data, word):
    refused(data, word)


def test_a_truncated_file_says_at_which_byte():
    data = model().SerializeToString()
    error = refused(data[: len(data) * 7 // 10], f"truncated at byte {len(data) * 7 // 10}")
    assert error.field == "graph"


def test_versions_that_are_too_new_name_both_versions_and_advise():
    proto = model()
    proto.ir_version = 99
    refused(proto, "99", str(onnx.IR_VERSION), "ir_version", "install a newer onnx")
    proto = model()
    proto.opset_import[0].version = 99
    refused(proto, "99", str(onnx.defs.onnx_opset_version()), "opset_import")
    proto = model()
    proto.opset_import.add(domain="ai.onnx.ml", version=99)
    refused(proto, "ai.onnx.ml", "99")


def test_missing_parts_are_named():
    proto = model()
    proto.ClearField("ir_version")
    refused(proto, "ir_version")
    proto = model()
    del proto.opset_import[:]
    refused(proto, "opset")
    proto = model()
    proto.graph.node[0].op_type = ""
    refused(proto, "graph.node[0]", "op_type", "first")
    proto = model()
    proto.graph.input[0].name = ""
    refused(proto, "graph.input[0]")


def test_names_defined_twice_undefined_or_in_a_cycle_are_named():
    proto = model()
    proto.graph.node[1].output[0] = "t"
    refused(proto, "'t'", "node 0", "node 1")
    proto = model()
    proto.graph.node[1].output[0] = "x"
    refused(proto, "'x'", "twice")
    proto = model()
    proto.graph.node[0].input[1] = "ghost"
    refused(proto, "'ghost'", "first", "never written")
    proto = model()
    proto.graph.node[0].input[1] = "y"
    refused(proto, "cycle", "first")
    proto = model()
    proto.graph.output[0].name = "nothing"
    refused(proto, "'nothing'", "graph.output")
    proto = model()
    proto.graph.initializer.append(proto.graph.initializer[0])
    refused(proto, "'w'", "two initializers")


def test_tensors_whose_data_do_not_fit_are_refused_before_allocation():
    def tensor(**fields):
        proto = model()
        weight = proto.graph.initializer[0]
        weight.Clear()
        weight.name = "w"
        for name, content in fields.items():
            if isinstance(content, list):
                getattr(weight, name).extend(content)
            else:
                setattr(weight, name, content)
        return proto

    refused(tensor(data_type=1, dims=[1 << 40], raw_data=b"1234"), "'w'", "4 are there")
    refused(tensor(data_type=1, dims=[1 << 62, 1 << 62], raw_data=b""), "'w'", "dims")
    refused(tensor(data_type=1, dims=[1 << 62, 1 << 62, 0], raw_data=b""), "'w'", "dims")
    refused(tensor(data_type=1, dims=[-1], raw_data=b""), "negative")
    refused(tensor(data_type=1, dims=[1] * 100, raw_data=b"1234"), "rank 100")
    refused(tensor(data_type=99, dims=[1], raw_data=b"1"), "99", "data_type")
    refused(tensor(data_type=1, dims=[2], float_data=[1.0]), "2 entries, 1")
    refused(tensor(data_type=8, dims=[1], string_data=[b"\xff\xfe"]), "UTF-8")
    refused(tensor(data_type=8, dims=[1], raw_data=b"a"), "string_data")
    refused(tensor(data_type=7, dims=[1], data_location=1), "base_dir")
    refused(tensor(data_type=3, dims=[1], int32_data=[1 << 20]), "'w'")


def test_huge_sparse_tensors_and_bad_indices_are_refused():
    values = helper.make_tensor("s", TensorProto.FLOAT, [1], [1.0])
    for dims, index, word in [([1 << 40], 0, "dims"), ([4], 9, "range"), ([4], -1, "range")]:
        proto = model()
        indices = helper.make_tensor("i", TensorProto.INT64, [1], [index])
        proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, dims))
        refused(proto, word)


def test_nodes_that_break_their_schema_are_named():
    proto = model()
    proto.graph.node[1].input.append("x")
    refused(proto, "Relu", "1 to 1 inputs")
    proto = model()
    proto.graph.node[1].attribute.append(helper.make_attribute("colour", 3))
    refused(proto, "Relu", "'colour'")
    proto = model()
    proto.graph.node[1].op_type = "Cast"
    refused(proto, "Cast", "'to'")
    proto.graph.node[1].attribute.append(helper.make_attribute("to", "float"))
    refused(proto, "Cast", "'to'", "kind i")


def test_wrong_dtypes_are_refused():
    proto = model()
    proto.graph.input[0].type.tensor_type.elem_type = TensorProto.INT64
    refused(proto, "Mul", "int64", "float32")
    proto = model()
    proto.graph.node[1].op_type = "Not"
    refused(proto, "Not", "'t'", "float32")
    proto = model()
    proto.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    refused(proto, "'y'", "declared int64")


def test_external_data_stay_inside_the_folder(tmp_path):
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(b"\0\0\0\0")
    (inside / "w.bin").write_bytes(b"\0\0\x80\x3f")
    (inside / "folder").mkdir()
    os.symlink(tmp_path / "secret.bin", inside / "link.bin")

    def write(location, **more):
        proto = model()
        weight = proto.graph.initializer[0]
        weight.ClearField("float_data")
        weight.ClearField("raw_data")
        weight.data_location = TensorProto.EXTERNAL
        for key, value in {"location": location, **more}.items():
            weight.external_data.add(key=key, value=str(value))
        (inside / "m.onnx").write_bytes(proto.SerializeToString())

    write("w.bin")
    graph = load(inside / "m.onnx")
    assert graph.initializers[graph.value("w")] == np.float32(1)
    for location, more, word in [
        ("../secret.bin", {}, "../secret.bin"),
        ("a/../../secret.bin", {}, "leads out"),
        ("..\\secret.bin", {}, "leads out"),
        ("C:\\secret.bin", {}, "leads out"),
        ("/etc/hostname", {}, "/etc/hostname"),
        ("link.bin", {}, "link"),
        ("folder", {}, "no plain file"),
        ("missing.bin", {}, "missing.bin"),
        ("", {}, "location"),
        ("w.bin", {"offset": 1}, "bytes 1 to 5"),
        ("w.bin", {"offset": -4}, "offset"),
        ("w.bin", {"length": 3}, "length says 3"),
        ("w.bin", {"offset": "9" * 30}, "offset"),
    ]:
        write(location, **more)
        with pytest.raises(ModelError) as caught:
            load(inside / "m.onnx")
        assert word in str(caught.value) and "m.onnx" in str(caught.value)


def nested(levels: int) -> bytes:
    """An If inside an If inside ..., written byte by byte as protobuf refuses to build it."""

    def part(number: int, content: bytes) -> bytes:
        length, size = len(content), bytearray()
        while length > 0x7F:
            size.append(length & 0x7F | 0x80)
            length >>= 7
        return bytes([number << 3 | 2]) + bytes([*size, length]) + content

    node = part(1, b"c") + part(2, b"n") + part(4, b"Not")
    for _ in range(levels):
        body = part(1, node) + part(2, b"body") + part(12, part(1, b"n"))
        attribute = part(1, b"then_branch") + part(6, body) + b"\xa0\x01\x05"
        node = part(1, b"c") + part(2, b"n") + part(4, b"If") + part(5, attribute)
    graph = part(1, node) + part(2, b"g") + part(11, part(1, b"c")) + part(12, part(1, b"n"))
    return b"\x08\x0a" + part(7, graph) + part(8, b"\x10\x14")


def test_deep_nesting_ends_in_an_error_and_not_in_a_crash():
    refused(nested(5), "else_branch")
    refused(nested(31), "else_branch")
    refused(nested(500), "no ONNX model")


def test_a_folder_is_no_model_and_a_missing_file_is_missing(tmp_path):
    with pytest.raises(ModelError, match="folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.onnx")


def test_random_damage_is_always_a_model_error_or_a_graph():
    generator = random.Random(1)
    original = model().SerializeToString()
    accepted = 0
    for _ in range(1500):
        data = bytearray(original)
        for _ in range(generator.randint(1, 4)):
            kind = generator.randrange(3)
            place = generator.randrange(len(data))
            if kind == 0:
                data[place] ^= 1 << generator.randrange(8)
            elif kind == 1:
                del data[place : place + generator.randint(1, 6)]
            else:
                data[place:place] = bytes(generator.randrange(256) for _ in range(3))
        try:
            from_bytes(bytes(data))
            accepted += 1
        except ModelError:
            pass
    assert 0 < accepted < 1500


def test_random_edits_of_fields_are_always_a_model_error_or_a_graph():
    generator = random.Random(2)
    base = model()
    names = ["x", "w", "t", "y", "", "ghost"]
    for _ in range(800):
        proto = copy.deepcopy(base)
        for _ in range(generator.randint(1, 3)):
            node = generator.choice(proto.graph.node)
            part = generator.choice([node.input, node.output])
            if part and generator.random() < 0.7:
                part[generator.randrange(len(part))] = generator.choice(names)
            else:
                part.append(generator.choice(names))
            node.op_type = generator.choice([node.op_type, "If", "Cast", "Split", "Loop", "Conv"])
            proto.graph.initializer[0].dims[:] = [generator.randint(-2, 3)]
        try:
            from_model_proto(proto)
        except ModelError:
            continue
