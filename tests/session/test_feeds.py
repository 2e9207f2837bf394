"""What a run may be fed, and how a wrong feed is answered."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import onemodel as om
from onemodel.session.errors import FeedError
from onemodel.session.session import Session
from tests.session.models import CHAIN, model

X, W = np.zeros((2, 8), np.float32), np.zeros(8, np.float32)
TWO = "g (float[n, 3] a, float[n] b) => (float[n, 3] y) { y = Neg (a) }"


@pytest.mark.parametrize(
    ("feeds", "words"),
    [
        ({"x": X}, ["'w' is missing", "float32[8]"]),
        ({"x": X, "w": W, "v": W}, ["no input 'v'", "x: float32[batch, 8]"]),
        ({"x": X, "W": W}, ["no input 'W'"]),
        ({"X1": X, "w": W}, ["no input 'X1'"]),
        (
            {"x": X.astype(np.float64), "w": W},
            ["'x' is float64", "float32[batch, 8]", ".astype(np.float32)"],
        ),
        ({"x": X[0], "w": W}, ["shape [8]", "expected float32[batch, 8]"]),
        ({"x": np.zeros((2, 7), np.float32), "w": W}, ["shape [2, 7]"]),
        ({"x": [[1.0]], "w": W}, ["'x' (a list) is float64", "np.asarray(..., np.float32)"]),
        ({"x": [[1.0], [1.0, 2.0]], "w": W}, ["'x' is a list that makes no array"]),
        ({"x": object(), "w": W}, ["'x' is a object that makes no array"]),
        ({"x": None, "w": W}, ["'x'"]),
    ],
)
@pytest.mark.parametrize("warm", [False, True], ids=["first", "after a run"])
def test_a_wrong_feed_says_what_was_expected(feeds, words, warm):
    session = Session(model(CHAIN))
    if warm:
        session.run({"x": X, "w": W})
        session.run({"x": X, "w": W})
    with pytest.raises(FeedError) as caught:
        session.run(feeds)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("feeds", [None, X, [X], "x"], ids=["None", "array", "list", "text"])
@pytest.mark.parametrize("provider", ["onemodel", "onnxruntime"])
def test_feeds_that_are_no_dict_are_refused_with_the_call_to_write(feeds, provider):
    session = Session(model("g (float[n] x) => (float[n] y) { y = Neg (x) }"), provider=provider)
    with pytest.raises(TypeError) as caught:
        session.run(feeds)
    assert "feeds is a dict of input name -> array: session.run({'x': array})" in str(caught.value)


@pytest.mark.parametrize("provider", ["onemodel", "onnxruntime"])
def test_tensors_lists_and_numbers_are_converted_in_every_run(provider):
    text = "g (float[n] x, int64[m] i, float s) => (float[n] y, int64[m] j)"
    body = "{ y = Mul (x, s) j = Identity (i) }"
    session = Session(model(f"{text} {body}"), provider=provider)
    x, i = np.arange(3, dtype=np.float32), np.array([4, 5])
    for feeds in (
        {"x": om.tensor(x), "i": [4, 5], "s": np.float32(2)},
        {"x": x, "i": i, "s": np.array(2, np.float32)},
        {"x": om.tensor(x), "i": om.tensor(i), "s": np.float32(2)},
        {"x": om.tensor(x), "i": (4, 5), "s": om.tensor(np.array(2, np.float32))},
    ):
        found = session.run(feeds)
        assert np.array_equal(found["y"], 2 * x)
        assert np.array_equal(found["j"], i)


def test_passes_given_as_one_text_are_refused_with_the_names_there_are():
    with pytest.raises(TypeError, match=r"sequence of names, not the text 'dce'.*dead_code"):
        Session(model(CHAIN), passes="dce")


def test_a_near_miss_is_suggested():
    session = Session(model("g (float[n] hidden) => (float[n] y) { y = Neg (hidden) }"))
    with pytest.raises(FeedError, match="did you mean 'hidden'"):
        session.run({"hiden": W})


def test_one_symbol_has_one_size():
    session = Session(model(TWO))
    session.run({"a": np.zeros((4, 3), np.float32), "b": np.zeros(4, np.float32)})
    with pytest.raises(FeedError, match=r"n is 4 \(axis 0 of 'a'\) and 5 \(axis 0 of 'b'\)"):
        session.run({"a": np.zeros((4, 3), np.float32), "b": np.zeros(5, np.float32)})


def test_an_unknown_output_is_refused_by_name():
    with pytest.raises(FeedError, match=r"'nothing'.*outputs are y"):
        Session(model(CHAIN)).run({"x": X, "w": W}, ["nothing"])


def test_scalars_foreign_byte_orders_and_empty_arrays_are_taken():
    session = Session(model("g (float s, float[n] x) => (float[n] y) { y = Mul (s, x) }"))
    for _ in range(3):
        found = session.run({"s": np.float32(2), "x": np.array([1, 2], ">f4")})
        assert found["y"].tolist() == [2, 4] and found["y"].dtype == np.float32
    assert session.run({"s": np.float32(2), "x": np.zeros(0, np.float32)})["y"].shape == (0,)


def test_strings_come_as_objects_or_as_numpy_strings():
    session = Session(model("g (string[n] x) => (string[n] y) { y = Identity (x) }"))
    for strings in (np.array(["a", "b"]), np.array(["a", "b"], object)):
        found = session.run({"x": strings})["y"]
        assert found.dtype == object and found.tolist() == ["a", "b"]


def test_narrow_floats_name_their_library():
    session = Session(model("g (bfloat16[n] x) => (bfloat16[n] y) { y = Neg (x) }"))
    with pytest.raises(FeedError, match=r"astype\(ml_dtypes.bfloat16\)"):
        session.run({"x": W})
    x = np.ones(3, ml_dtypes.bfloat16)
    assert session.run({"x": x})["y"].dtype == ml_dtypes.bfloat16
