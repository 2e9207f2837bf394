"""If, Loop, Scan, sequences: bodies run with what they capture, as ONNX Runtime runs them."""

from __future__ import annotations

import numpy as np
import pytest

from onemodel.session.errors import RunError
from onemodel.session.session import Session
from tests.session.models import model
from tests.session.test_session import oracle

BRANCH = """
g (bool c, float[n] x, float[n] w) => (float[n] y) {
  t = Identity (x)
  y = If (c) <then_branch = a () => (float[n] p) { u = Mul (t, w) p = Identity (u) },
              else_branch = b () => (float[n] q) <float k = {2}> { q = Sub (t, k) }>
}
"""

LOOP = """
g (int64 n, bool go, float[2] x) => (float[2] last, float[m, 2] all) {
  last, all = Loop (n, go, x) <body = b (int64 i, bool c, float[2] s)
    => (bool d, float[2] r, float[2] o) {
      f = Cast <to = 1> (i)
      r = Add (s, f)
      o = Mul (r, x)
      limit = Constant <value_float = 9.0> ()
      first = ReduceSum <keepdims = 0> (r)
      d = Less (first, limit)
    }>
}
"""

SCAN = """
g (float[2] start, float[t, 2] series) => (float[2] sum, float[t, 2] partial) {
  sum, partial = Scan <num_scan_inputs = 1, scan_output_directions = [1], body = b
    (float[2] s, float[2] item) => (float[2] r, float[2] o) {
      r = Add (s, item)
      o = Neg (r)
    }> (start, series)
}
"""


@pytest.mark.parametrize("passes", [None, ()])
def test_branches_read_outer_values_with_all_passes_and_without(passes):
    session = Session(model(BRANCH), passes=passes)
    x, w = np.arange(3, dtype=np.float32), np.full(3, 3, np.float32)
    for condition, wanted in [(True, x * 3), (False, x - 2), (True, x * 3)]:
        found = session.run({"c": np.array(condition), "x": x, "w": w})["y"]
        assert found.tolist() == wanted.tolist()


def test_a_branch_may_hand_out_a_constant_that_callers_cannot_reach():
    proto = model(
        "g (bool c) => (float[2] y) { y = If (c) <"
        "then_branch = a () => (float[2] p) <float[2] k = {1, 2}> { p = Identity (k) },"
        "else_branch = b () => (float[2] q) { q = Constant <value_floats = [3.0, 4.0]> () }> }"
    )
    session = Session(proto)
    for _ in range(3):
        for condition, wanted in [(True, [1, 2]), (False, [3, 4])]:
            found = session.run({"c": np.array(condition)})["y"]
            assert found.tolist() == wanted
            if found.flags.writeable:
                found[...] = 0


@pytest.mark.parametrize(("count", "go"), [(3, True), (50, True), (0, True), (5, False)])
def test_loops_stop_at_their_count_or_condition(count, go):
    proto = model(LOOP)
    feeds = {"n": np.array(count), "go": np.array(go), "x": np.array([0.5, 1], np.float32)}
    session, wanted = Session(proto), oracle(proto, feeds)
    for _ in range(3):
        found = session.run(feeds)
        for name, array in wanted.items():
            assert found[name].shape == array.shape
            np.testing.assert_allclose(found[name], array, rtol=1e-6)


def test_scans_carry_a_state_and_may_run_backward():
    proto = model(SCAN)
    series = np.arange(10, dtype=np.float32).reshape(5, 2)
    feeds = {"start": np.ones(2, np.float32), "series": series}
    found, wanted = Session(proto).run(feeds), oracle(proto, feeds)
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name], array)


def test_bodies_inside_bodies_reach_the_outermost_values():
    proto = model(
        "g (bool c, bool d, float[2] x) => (float[2] y) { y = If (c) <"
        "then_branch = a () => (float[2] p) { p = If (d) <"
        "  then_branch = e () => (float[2] r) { r = Neg (x) },"
        "  else_branch = f () => (float[2] s) { s = Abs (x) }> },"
        "else_branch = b () => (float[2] q) { q = Exp (x) }> }"
    )
    x = np.array([-1, 2], np.float32)
    session = Session(proto)
    for c in (True, False):
        for d in (True, False):
            feeds = {"c": np.array(c), "d": np.array(d), "x": x}
            np.testing.assert_allclose(session.run(feeds)["y"], oracle(proto, feeds)["y"])


def test_sequences_go_in_and_out_as_lists():
    proto = model(
        "g (seq(float[n]) s, float[n] x) => (seq(float[n]) t, float[n] y) {"
        "t = SequenceInsert (s, x) i = Constant <value_int = 0> () y = SequenceAt (t, i) }"
    )
    session = Session(proto)
    one, two = np.zeros(2, np.float32), np.ones(2, np.float32)
    found = session.run({"s": [one], "x": two})
    assert [item.tolist() for item in found["t"]] == [[0, 0], [1, 1]]
    assert found["y"].tolist() == [0, 0]
    assert not any(np.shares_memory(item, feed) for item in found["t"] for feed in (one, two))


def test_a_node_that_fails_inside_a_body_is_the_one_named():
    proto = model(
        "g (bool c, float[n] x, int64[1] s) => (float[m] y) { [outer] y = If (c) <"
        "then_branch = a () => (float[m] p) { [inner] p = Reshape (x, s) },"
        "else_branch = b () => (float[m] q) { q = Reshape (x, s) }> }"
    )
    with pytest.raises(RunError, match="'inner'"):
        Session(proto).run({"c": np.array(True), "x": np.zeros(3, np.float32), "s": np.array([4])})
