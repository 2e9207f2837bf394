"""Format v1: equal bytes, the same bits after loading, and nothing but a clear error otherwise."""

from __future__ import annotations

import contextlib
import json
import struct
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

import onemodel as om
from onemodel import nn
from onemodel.axes.extent import Extent
from onemodel.format import FormatError, from_bytes, load, save, to_bytes
from onemodel.graph.ir import Graph, Node, Value
from onemodel.graph.text import to_text
from onemodel.onnx_io.reader import load as load_onnx
from onemodel.onnx_io.writer import to_bytes as to_onnx_bytes

ZOO = Path(__file__).resolve().parents[3] / "shared" / "zoo"


@pytest.fixture(scope="module")
def traced() -> om.TracedModel:
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)).eval()
    return om.trace(model, example(3), axes=[{0: "batch"}])


def example(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, 4)).astype(np.float32)


def test_a_loaded_session_gives_the_same_bits(traced, tmp_path):
    traced.save(tmp_path / "m.om")
    one, two = om.Session(traced), om.Session(tmp_path / "m.om")
    for n in (3, 1, 7):
        (a,), (b,) = (s.run({"x": example(n)}).values() for s in (one, two))
        assert a.tobytes() == b.tobytes()


def test_equal_graphs_give_equal_bytes_and_loading_changes_none(traced, tmp_path):
    data = to_bytes(traced.graph)
    assert data == to_bytes(traced.graph)
    again = from_bytes(data)
    assert to_bytes(again) == data
    assert to_text(again) == to_text(traced.graph)
    assert to_onnx_bytes(again) == to_onnx_bytes(traced.graph)
    assert [n.origin for n in again.nodes] == [n.origin for n in traced.graph.nodes]


def test_any_safetensors_tool_reads_the_weights_and_they_are_mapped(traced, tmp_path):
    save(traced.graph, tmp_path / "m.om")
    weights = safetensors.numpy.load_file(tmp_path / "m.om")
    for value, array in traced.graph.initializers.items():
        np.testing.assert_array_equal(weights[value.name], array)
    loaded = load(tmp_path / "m.om")
    array = next(iter(loaded.initializers.values()))
    assert not array.flags.writeable and not array.flags.owndata
    assert [p.name for p in tmp_path.iterdir()] == ["m.om"]


def test_every_dtype_and_kind_of_attribute_comes_back():
    graph = Graph(name="g", opsets={"": 20, "com.example": 1}, metadata={"k": "v"}, doc="d")
    names = ["float16", "bool", "int8", "uint64", "complex64", "float64"]
    dtypes = [np.dtype(n) for n in names]
    dtypes += [np.dtype(getattr(ml_dtypes, n)) for n in ("bfloat16", "float8_e4m3fn", "int4")]
    for dtype in dtypes:
        value = Value(f"w:{dtype.name}", dtype, (2, 3))
        graph.initializers[value] = np.arange(6).reshape(2, 3).astype(dtype)
    text = Value("text", np.dtype(object), (2,))
    graph.initializers[text] = np.array(["a", b"\xff"], object)
    batch = Extent.symbol("b")
    x = Value("x", np.dtype(np.float32), (batch, None, (2 * batch + 1) // 3, 4))
    body = Graph(name="body", opsets={"": 20})
    inner = Value("inner", np.dtype(np.float32), None)
    body.nodes.append(Node("Identity", [x], [inner]))
    body.outputs.append(inner)
    y = Value("y", type_text="seq(tensor(float))")
    attributes = {
        "i": 3, "f": 0.1, "nan": float("nan"), "inf": float("-inf"), "s": "s<\"\\", "b": b"\xff",
        "t": np.ones((2, 0), np.int64), "ints": [1, 2], "floats": [0.5], "strings": ["a"],
        "g": body, "gs": [body], "empty": [],
    }  # fmt: skip
    node = Node("Thing", [x, None], [y], attributes, "com.example", "n", metadata={"m": "1"})
    graph.inputs.append(x)
    graph.nodes.append(node)
    graph.outputs.append(y)
    data = to_bytes(graph)
    again = from_bytes(data)
    assert to_bytes(again) == data
    assert again.inputs[0].shape == x.shape
    got = again.nodes[0].attributes
    assert got["f"] == 0.1 and np.isnan(got["nan"]) and got["inf"] == -np.inf
    assert got["b"] == b"\xff" and got["t"].shape == (2, 0) and got["gs"][0].name == "body"
    for (one, a), (two, b) in zip(
        graph.initializers.items(), again.initializers.items(), strict=True
    ):
        assert (one.name, a.dtype, a.shape) == (two.name, b.dtype, b.shape)
        assert (a == b).all() if a.dtype == object else a.tobytes() == b.tobytes()


def edited(data: bytes, **changes: str) -> bytes:
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + size])
    header["__metadata__"].update(changes)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + size :]


def test_a_later_minor_is_read_and_a_later_major_refused(traced):
    data = to_bytes(traced.graph)
    assert to_text(from_bytes(edited(data, version="1.7"))) == to_text(traced.graph)
    with pytest.raises(FormatError, match=r"version 2\.0, this library reads 1\.x"):
        from_bytes(edited(data, version="2.0"))


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda d: b"", "too short"),
        (lambda d: d[:20], "header claims"),
        (lambda d: d[:-5], "outside the file"),
        (lambda d: b"\xff" * 8 + d[8:], "header claims"),
        (lambda d: d[:-1] + bytes([d[-1] ^ 1]), "checksum"),
        (lambda d: edited(d, graph="{}"), "checksum"),
        (lambda d: edited(d, format="other"), "no model of this format"),
        (lambda d: edited(d, version="x"), "version"),
        (lambda d: struct.pack("<Q", 2) + b"[]", "no object"),
        (lambda d: struct.pack("<Q", 2) + b"{}", "no metadata"),
        (lambda d: struct.pack("<Q", 100000) + b"[" * 100000, "no JSON"),
    ],
)
def test_damaged_files_are_refused_with_the_place(traced, damage, message):
    with pytest.raises(FormatError, match=message):
        from_bytes(damage(to_bytes(traced.graph)))


def test_an_interrupted_write_leaves_the_old_file(traced, tmp_path, monkeypatch):
    path = tmp_path / "m.om"
    save(traced.graph, path)
    before = path.read_bytes()
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        save(traced.graph, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.om"]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_no_mutation_of_a_file_does_anything_but_load_or_refuse(traced, data):
    good = bytearray(to_bytes(traced.graph))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(good) - 1))
        good[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(good)))
    started = time.perf_counter()
    for candidate in (bytes(good), bytes(good[:cut])):
        with contextlib.suppress(FormatError):
            from_bytes(candidate)
    assert time.perf_counter() - started < 5


@pytest.mark.skipif(not ZOO.is_dir(), reason="there is no zoo beside the repository")
def test_models_of_other_exporters_survive_the_round_trip():
    for path in sorted(ZOO.glob("*.onnx")):
        graph = load_onnx(path)
        assert to_text(from_bytes(to_bytes(graph))) == to_text(graph), path.name
