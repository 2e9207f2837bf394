"""Progress and the end of long runs, and sessions of files."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from onemodel.format.writer import save
from onemodel.session.errors import CancelledError
from onemodel.session.session import Session

TEXT = """
<ir_version: 10, opset_import: ["" : 20]>
g (float[N, 3] x) => (float[N, 3] y) {
    [first] a = Exp (x) [second] b = Tanh (a) [third] c = Softmax (b) [last] y = Neg (c)
}
"""


def made() -> tuple[Session, dict[str, np.ndarray]]:
    session = Session(parser.parse_model(TEXT), passes=())
    return session, {"x": np.random.RandomState(0).randn(2, 3).astype(np.float32)}


def test_progress_names_every_step_and_does_not_change_a_bit() -> None:
    session, feeds = made()
    told: list[tuple[int, int, str]] = []
    for _ in range(3):  # before, while and after the plan is learned
        told.clear()
        watched = session.run(feeds, progress=lambda *step: told.append(step))
        assert watched["y"].tobytes() == session.run(feeds)["y"].tobytes()
        names = ("first", "second", "third", "last", "")
        assert told == [(k, 4, name) for k, name in enumerate(names)]


def test_a_run_ends_where_progress_says_no_and_the_session_runs_again() -> None:
    session, feeds = made()
    before = session.run(feeds)["y"]
    with pytest.raises(
        CancelledError, match=r"before node 'third' .Softmax., after 2 of 4"
    ) as seen:
        session.run(feeds, progress=lambda done, total, node: node != "third")
    assert (seen.value.done, seen.value.total) == (2, 4)
    np.testing.assert_array_equal(session.run(feeds)["y"], before)


def test_an_error_of_the_callback_itself_is_not_hidden() -> None:
    session, feeds = made()
    with pytest.raises(Exception, match="out of paper"):
        session.run(feeds, progress=lambda *_: (_ for _ in ()).throw(OSError("out of paper")))


def test_another_provider_has_no_progress_to_tell() -> None:
    session = Session(parser.parse_model(TEXT), provider="onnxruntime")
    with pytest.raises(ValueError, match="onemodel"):
        session.run({"x": np.ones((1, 3), np.float32)}, progress=print)


def test_both_kinds_of_files_load_and_give_the_same_bits(tmp_path) -> None:
    session, feeds = made()
    wanted = session.run(feeds)["y"].tobytes()
    save(session.graph, tmp_path / "m.om")
    (tmp_path / "m.onnx").write_bytes(parser.parse_model(TEXT).SerializeToString())
    for name in ("m.om", "m.onnx"):
        loaded = Session.load(tmp_path / name, passes=())
        assert loaded.run(feeds)["y"].tobytes() == wanted
        from_memory = Session((tmp_path / name).read_bytes(), passes=())
        assert from_memory.run(feeds)["y"].tobytes() == wanted
