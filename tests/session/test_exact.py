"""Exact sessions: what they refuse, and that every way of running gives the same bits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from onemodel.compare.comparison import compare
from onemodel.session.errors import InexactOperatorsError
from onemodel.session.session import Session
from tests.session.models import CHAIN, model

NET = """
g (float[batch, 300] x, float[300, 7] w) => (float[batch, 7] y)
{ a = MatMul (x, w) b = Exp (a) c = Softmax (b) y = Relu (c) }
"""


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


FEEDS = {"x": draw(5, 300) / 9, "w": draw(300, 7, seed=1)}


def same(one: np.ndarray, other: np.ndarray) -> None:
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    assert one.tobytes() == other.tobytes()


def test_the_mode_is_known_and_fast_by_default():
    assert Session(model(NET)).mode == "fast"
    assert Session(model(NET), mode="exact").mode == "exact"
    with pytest.raises(ValueError, match="mode 'quick' is unknown; there are fast, exact"):
        Session(model(NET), mode="quick")  # type: ignore[arg-type]


def test_another_provider_promises_no_bits():
    with pytest.raises(ValueError, match="'onnxruntime' promises no bits"):
        Session(model(NET), mode="exact", provider="onnxruntime")


def test_all_operators_without_an_exact_kernel_are_named_at_once():
    text = """
    g (float[4] x, float[1, 8, 1] s, int64 n) => (float[4] y, float[1, 8, 2] z)
    { a = RandomNormalLike (x) y = Bernoulli (a) z = DFT (s) }
    """
    with pytest.raises(InexactOperatorsError, match="3 operators have no exact kernel") as caught:
        Session(model(text), mode="exact")
    named = [operator for operator, _ in caught.value.operators]
    assert named == ["RandomNormalLike (opset 20)", "Bernoulli (opset 20)", "DFT (opset 20)"]
    assert "mode='fast'" in str(caught.value)
    Session(model(text))


def test_a_body_is_looked_into():
    text = """
    g (bool c, float[4] x) => (float[4] y)
    { y = If (c) <then_branch = t () => (float[4] a) { a = Bernoulli (x) },
                  else_branch = e () => (float[4] b) { b = Exp (x) }> }
    """
    with pytest.raises(InexactOperatorsError, match="Bernoulli"):
        Session(model(text), mode="exact")


@pytest.mark.parametrize("branch", [True, False])
def test_bodies_run_by_exact_kernels(branch):
    text = """
    g (bool c, float[5, 300] x, float[300, 7] w) => (float[5, 7] y)
    { y = If (c) <then_branch = t () => (float[5, 7] a) { a = MatMul (x, w) },
                  else_branch = e () => (float[5, 7] b) { m = MatMul (x, w) b = Exp (m) }> }
    """
    plain = "g (float[5, 300] x, float[300, 7] w) => (float[5, 7] y) "
    plain += "{ y = MatMul (x, w) }" if branch else "{ m = MatMul (x, w) y = Exp (m) }"
    feeds = FEEDS | {"c": np.array(branch)}
    found = Session(model(text), mode="exact").run(feeds)["y"]
    same(found, Session(model(plain), mode="exact").run(FEEDS)["y"])


@pytest.mark.parametrize("text", [NET, CHAIN])
def test_every_way_of_running_gives_the_same_bits(text):
    proto = model(text)
    feeds = FEEDS if text == NET else {"x": draw(5, 8), "w": draw(8, seed=1)}
    session = Session(proto, mode="exact")
    first = session.run(feeds)["y"]
    same(session.run(feeds)["y"], first)  # learned
    same(session.run(feeds, progress=lambda *_: True)["y"], first)
    same(Session(proto, mode="exact", passes=()).run(feeds)["y"], first)
    every = session.run(feeds, outputs=["a", "b", "c", "y"])
    same(every["y"], first)
    turned = {name: np.asfortranarray(array) for name, array in feeds.items()}
    same(session.run(turned)["y"], first)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: session.run(feeds)["y"], range(16)):
            same(found, first)


def test_a_row_does_not_feel_its_batch():
    session = Session(model(NET), mode="exact")
    every = session.run(FEEDS)["y"]
    for row in range(5):
        alone = session.run(FEEDS | {"x": FEEDS["x"][row : row + 1]})["y"]
        same(alone[0], every[row])


def test_constants_are_folded_by_exact_kernels():
    proto = model(NET)
    proto.graph.initializer.append(numpy_helper.from_array(FEEDS["x"], "x"))
    proto.graph.initializer.append(numpy_helper.from_array(FEEDS["w"], "w"))
    del proto.graph.input[:]
    session = Session(proto, mode="exact")
    assert len(session.graph.nodes) == 1
    same(session.run({})["y"], Session(model(NET), mode="exact").run(FEEDS)["y"])


def test_every_nan_has_the_same_bits_and_every_chosen_zero_is_positive():
    text = """
    g (float[4] x, float[4] z) => (float[4] nan, float[4] big, float[4] small, float[4] kept)
    { nan = Sub (x, x) big = Max (z, x) small = Relu (z) kept = Identity (x) }
    """
    x = np.array([np.inf, -np.inf, -0.0, 0.0], np.float32)
    x[0] = np.array(0xFFC01234, np.uint32).view(np.float32)
    z = np.array([-1.0, -0.0, 0.0, -0.0], np.float32)
    found = Session(model(text), mode="exact").run({"x": x, "z": z})
    bits = {name: array.view(np.uint32).tolist() for name, array in found.items()}
    nan = 0x7FC00000
    assert bits["nan"] == [nan, nan, 0, 0]
    assert bits["kept"][0] == nan
    assert bits["big"] == [nan, 0, 0, 0]
    assert bits["small"] == [0, 0, 0, 0]


def test_a_comparison_shows_how_far_fast_is_from_exact():
    report = compare(model(NET), FEEDS, against=["session:exact", "session", "onnxruntime"])
    assert report.reference == "session:exact"
    assert report.failures == {}
    assert report.agrees


def test_float64_and_float16_run_too():
    for code, dtype in ((11, np.float64), (10, np.float16)):
        node = helper.make_node("MatMul", ["x", "w"], ["y"])
        graph = helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info(name, code, FEEDS[name].shape) for name in "xw"],
            [helper.make_tensor_value_info("y", code, [5, 7])],
        )
        proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        onnx.checker.check_model(proto)
        feeds = {name: array.astype(dtype) for name, array in FEEDS.items()}
        found = Session(proto, mode="exact").run(feeds)["y"]
        wanted = feeds["x"].astype(np.float64) @ feeds["w"].astype(np.float64)
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
        assert found.dtype == dtype
