"""Sessions: outputs, ownership, intermediates, plans, threads."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest

from onemodel.axes.extent import Extent
from onemodel.errors import CallSite
from onemodel.graph.ir import Origin
from onemodel.onnx_io.errors import ModelError, UnsupportedOperatorsError
from onemodel.onnx_io.reader import from_model_proto
from onemodel.session.errors import FeedError, RunError
from onemodel.session.session import Session
from tests.session.models import CHAIN, SHAPES, model


def oracle(proto: onnx.ModelProto, feeds: dict) -> dict:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [item.name for item in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


def feeds(batch: int = 2, seed: int = 0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {
        "x": generator.standard_normal((batch, 8)).astype(np.float32),
        "w": generator.standard_normal(8).astype(np.float32),
    }


def test_outputs_are_those_of_onnx_runtime_in_every_run_of_a_plan():
    proto = model(CHAIN)
    session = Session(proto)
    for run in range(4):
        for batch in (1, 3):
            given = feeds(batch, run)
            found = session.run(given)
            np.testing.assert_allclose(found["y"], oracle(proto, given)["y"], rtol=1e-6)
            plain = Session(proto, passes=()).run(given)
            assert found["y"].tobytes() == plain["y"].tobytes()


def test_a_session_takes_graphs_protos_bytes_paths_and_holders_of_a_graph(tmp_path):
    proto = model(CHAIN)
    (tmp_path / "m.onnx").write_bytes(proto.SerializeToString())
    graph = from_model_proto(proto)
    sources = [
        proto,
        proto.SerializeToString(),
        tmp_path / "m.onnx",
        str(tmp_path / "m.onnx"),
        graph,
        SimpleNamespace(graph=graph),
    ]
    results = [Session(source).run(feeds())["y"].tobytes() for source in sources]
    assert len(set(results)) == 1
    with pytest.raises(TypeError, match="dict"):
        Session({})


def test_a_session_keeps_its_own_copy_of_a_graph():
    graph = from_model_proto(model(CHAIN))
    session = Session(graph)
    before = session.run(feeds())["y"]
    graph.nodes.clear()
    assert session.run(feeds())["y"].tobytes() == before.tobytes()


def test_names_and_symbols_are_told():
    session = Session(model(CHAIN))
    assert session.input_names == ("x", "w") and session.output_names == ("y",)
    assert session.symbols == ("batch",)
    assert Session(model(SHAPES)).symbols == ("batch", "time")


def test_outputs_come_in_the_order_asked_for():
    session = Session(model(SHAPES))
    x = np.zeros((2, 3, 4), np.float32)
    assert list(session.run({"x": x})) == ["y", "s"]
    assert list(session.run({"x": x}, ["s", "y"])) == ["s", "y"]


def test_every_intermediate_can_be_asked_for_without_changing_the_others():
    proto = model(
        "g (float[n] x) => (float[n] y)"
        "{ i = Identity (x) j = Identity (i) k = Exp (j) l = Exp (j) m = Add (k, l) y = Neg (m) }"
    )
    session = Session(proto)
    x = np.linspace(-1, 1, 9, dtype=np.float32)
    alone = session.run({"x": x})["y"]
    names = ["x", "i", "j", "k", "l", "m", "y"]
    for _ in range(3):
        every = session.run({"x": x}, names)
        assert list(every) == names
        assert every["y"].tobytes() == alone.tobytes()
        assert every["j"].tobytes() == x.tobytes()
        assert every["k"].tobytes() == every["l"].tobytes()
        for one in names:
            for other in names:
                assert one == other or not np.shares_memory(every[one], every[other])


def test_constants_and_inputs_can_be_asked_for_and_stay_unharmed():
    proto = model("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }")
    session = Session(proto)
    x = np.ones(2, np.float32)
    for _ in range(3):
        found = session.run({"x": x}, ["w", "x", "y"])
        for array in found.values():
            array[...] = -5
    assert session.run({"x": x})["y"].tolist() == [2, 3] and x.tolist() == [1, 1]


@pytest.mark.parametrize(
    "node", ["Identity (x)", "Reshape (x, shape)", "Transpose (x)", "Expand (x, shape)"]
)
def test_outputs_never_share_memory_with_inputs(node):
    proto = model(
        "g (float[3] x, float[3] z) => (float[3] y, float[3] v) <int64[1] shape = {3}>"
        f"{{ y = {node} v = Identity (y) }}"
    )
    session = Session(proto)
    x = np.arange(3, dtype=np.float32)
    for _ in range(3):
        found = session.run({"x": x, "z": x})
        assert not np.shares_memory(found["y"], x) and not np.shares_memory(found["y"], found["v"])
        found["y"][...] = 9
        assert x.tolist() == [0, 1, 2] and found["v"].tolist() == [0, 1, 2]


def test_outputs_of_two_runs_do_not_share_memory():
    session = Session(model(CHAIN))
    results = [session.run(feeds(seed=seed))["y"] for seed in range(5)]
    again = [session.run(feeds(seed=seed))["y"] for seed in range(5)]
    for one, two in zip(results, again, strict=True):
        assert one.tobytes() == two.tobytes() and not np.shares_memory(one, two)


def test_shape_chains_are_computed_once_per_shape():
    session = Session(model(SHAPES))
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    wanted = session.run({"x": x})
    for _ in range(2):
        found = session.run({"x": x + 1})
        assert (found["y"] == wanted["y"] + 1).all() and found["s"].tolist() == [2, 3, 4]
    assert [row.op_type for row in session.profile({"x": x})] == ["Reshape"]
    assert session.run({"x": np.zeros((5, 1, 4), np.float32)})["y"].shape == (5, 4)


def test_values_that_depend_on_data_are_not_kept():
    proto = model(
        "g (float[n] x, int64[1] k) => (float[m] y)"
        "{ s = Shape (x) t = Sub (s, k) zero = Sub (k, k) y = Slice (x, zero, t) }"
    )
    session = Session(proto)
    x = np.arange(5, dtype=np.float32)
    for k in (1, 3, 2, 1):
        assert session.run({"x": x, "k": np.array([k])})["y"].shape == (5 - k,)


def test_nonzero_makes_another_shape_each_time():
    proto = model(
        "g (float[n] x) => (int64[a] s, float[1, b] y) "
        "{ z = NonZero (x) s = Shape (z) f = Cast <to = 1> (z) y = Neg (f) }"
    )
    session = Session(proto)
    for row in ([1, 0, 1], [1, 1, 1], [0, 0, 0], [0, 1, 0]):
        x = np.array(row, np.float32)
        found = session.run({"x": x})
        assert found["s"].tolist() == [1, sum(row)]
        assert found["y"].tolist() == [[-float(i) for i in np.flatnonzero(row)]]


def test_only_so_many_shapes_are_remembered_and_all_stay_right():
    session = Session(model(CHAIN), plans=3)
    for _ in range(2):
        for batch in range(1, 9):
            assert session.run(feeds(batch))["y"].shape == (batch, 8)
    assert len(session._plans) == 3


def test_a_feed_of_another_layout_gives_the_same_bits():
    proto = model(
        "g (float[a, b] x) => (float[a, b] y) { e = Exp (x) t = Tanh (e) y = Mul (t, x) }"
    )
    session = Session(proto)
    x = np.random.default_rng(0).standard_normal((33, 17)).astype(np.float32)
    wanted = session.run({"x": x})["y"]
    backward = np.ascontiguousarray(x[::-1])[::-1]
    for layout in (x, np.asfortranarray(x), backward, x):
        assert session.run({"x": layout})["y"].tobytes() == wanted.tobytes()


def test_threads_get_the_same_bits():
    session = Session(model(CHAIN))
    wanted = {seed: session.run(feeds(3, seed))["y"].tobytes() for seed in range(6)}
    wrong: list[int] = []

    def work(seed: int) -> None:
        for _ in range(200):
            if session.run(feeds(3, seed))["y"].tobytes() != wanted[seed]:
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_division_by_zero_is_a_number_and_no_warning():
    proto = model("g (float[n] x) => (float[n] y) { y = Div (x, x) }")
    assert np.isnan(Session(proto).run({"x": np.zeros(2, np.float32)})["y"]).all()


def test_a_failing_node_is_named_with_its_type_and_place():
    proto = model("g (float[n] x, int64[2] s) => (float[a, b] y) { [shape_it] y = Reshape (x, s) }")
    graph = from_model_proto(proto)
    site = CallSite("model.py", 9, 9, 4, 9, "forward", "    x.view(s)")
    graph.nodes[0].origin = Origin(site, "head")
    session = Session(graph)
    with pytest.raises(RunError, match=r"'shape_it' \(Reshape, from model.py:9\)") as caught:
        session.run({"x": np.zeros(5, np.float32), "s": np.array([2, 2])})
    assert (caught.value.node, caught.value.op_type) == ("shape_it", "Reshape")
    assert caught.value.place == "model.py:9"
    good = session.run({"x": np.zeros(4, np.float32), "s": np.array([2, 2])})
    assert good["y"].shape == (2, 2)


def test_nodes_without_a_kernel_are_told_together():
    proto = model(CHAIN)
    proto.graph.node[1].op_type, proto.graph.node[3].op_type = "Wobble", "Wibble"
    with pytest.raises(UnsupportedOperatorsError, match=r"Wibble.*Wobble"):
        Session(proto)
    graph = from_model_proto(proto, allow_unknown=True)
    with pytest.raises(UnsupportedOperatorsError, match=r"Wibble.*Wobble"):
        Session(graph)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    path = tmp_path / "letter.onnx"
    path.write_text("Dear reader")
    with pytest.raises(ModelError, match=r"letter\.onnx"):
        Session(path)


def test_passes_can_be_chosen_and_report_what_they_did():
    proto = model("g (float[n] x) => (float[n] y) { i = Identity (x) y = Neg (i) }")
    session = Session(proto, passes=["remove_identity"])
    (report,) = session.report()
    assert (report.name, report.changed) == ("remove_identity", 1)
    assert "hands 'x' through" in str(report)
    assert [node.op_type for node in session.graph.nodes] == ["Neg"]
    assert Session(proto, passes=()).report() == ()
    with pytest.raises(ValueError, match="no pass is called 'fastest'"):
        Session(proto, passes=["fastest"])


def test_a_profile_tells_time_bytes_and_shape_of_each_step():
    rows = Session(model(CHAIN)).profile(feeds(3), repeat=3)
    assert [row.op_type for row in rows] == ["Mul", "Relu", "Sub", "Tanh"]
    assert all(row.shape == (3, 8) and row.bytes == 96 and row.seconds > 0 for row in rows)
    assert rows[0].dtype == "float32" and rows[-1].value == "y"


def test_random_nodes_draw_anew_in_every_run():
    proto = model(
        "g (float[n] x) => (float[n] y, float[9] z)"
        "{ y = RandomUniformLike (x) z = RandomNormal <shape = [9]> () }"
    )
    session = Session(proto)
    x = np.zeros(9, np.float32)
    one, two, three = (session.run({"x": x}) for _ in range(3))
    for name in ("y", "z"):
        assert len({one[name].tobytes(), two[name].tobytes(), three[name].tobytes()}) == 3


def test_onnx_runtime_as_a_provider_gives_its_own_values():
    proto = model(CHAIN)
    session = Session(proto, provider="onnxruntime")
    given = feeds()
    wanted = oracle(proto, given)["y"]
    assert session.run(given)["y"].tobytes() == wanted.tobytes()
    found = session.run(given, ["b", "y"])
    assert list(found) == ["b", "y"]
    np.testing.assert_allclose(found["b"], np.maximum(given["x"] * given["w"], 0), rtol=1e-6)
    with pytest.raises(FeedError, match="'w'"):
        session.run({"x": given["x"]})
    with pytest.raises(ValueError, match="cuda"):
        Session(proto, provider="cuda")


def test_onnx_runtime_is_asked_for_by_name_where_it_is_absent(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(ImportError, match="pip install onnxruntime"):
        Session(model(CHAIN), provider="onnxruntime")


def test_sizes_that_are_derived_have_to_come_out_right():
    graph = from_model_proto(model("g (float[n] x, float[m] z) => (float[n] y) { y = Neg (x) }"))
    n = Extent.symbol("n")
    graph.inputs[0].shape, graph.inputs[1].shape = (n,), (2 * n,)
    session = Session(graph)
    x = np.zeros(3, np.float32)
    assert session.run({"x": x, "z": np.zeros(6, np.float32)})["y"].shape == (3,)
    with pytest.raises(FeedError, match=r"axis 0 of 'z' is 5, expected 2\*n = 6 \(n = 3\)"):
        session.run({"x": x, "z": np.zeros(5, np.float32)})
