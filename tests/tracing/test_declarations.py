"""What is handed to om.trace: every slip is told in words, and no name swallows another."""

from __future__ import annotations

import re

import numpy as np
import pytest

import onemodel as om
from onemodel import nn

X = np.ones((3, 4), np.float32)


@pytest.mark.parametrize(
    "model",
    [
        lambda x: {"a_0": x * 2, "a": [x + 1]},
        lambda x: {0: x * 2, "0": x + 1},
        lambda x: (x * 2, {"0": x}, x),
        lambda x: {"a": {"b": x * 2}, "a_b": x + 1},
    ],
)
def test_results_of_one_name_are_refused_and_others_are_all_kept(model):
    try:
        traced = om.trace(model, X)
    except om.TraceException as error:
        assert error.code == "OM507" and "two results" in str(error)
    else:
        assert len(traced.graph.outputs) == 3


def test_inputs_of_one_name_are_refused():
    with pytest.raises(TypeError, match="two inputs would be called 'x_0'"):
        om.trace(lambda x, x_0: x[0] + x_0, (X,), X)


@pytest.mark.parametrize("symbol", ["0*b", "b+1", "2b", "b*2", "a/b", "f(b)", "a,b", "", " b", 3])
def test_a_symbol_is_a_name_or_a_multiple_of_one(symbol):
    with pytest.raises(om.TraceException, match="axis 0 of input 'x'") as caught:
        om.trace(lambda x: x * 2, X, axes={"x": {0: symbol}})
    assert caught.value.code == "OM508"


@pytest.mark.parametrize("symbol", ["batch", "N", "batch size", "dim-1", "größe", "x.1", "_b"])
def test_names_of_many_kinds_are_symbols(symbol):
    assert om.trace(lambda x: x * 2, X, axes={"x": {0: symbol}}).symbols == {symbol: 3}


@pytest.mark.parametrize("axes", [{"x": "batch"}, ["batch"], {"x": 5}])
def test_axes_of_an_input_are_a_dict_or_one_name_per_axis(axes):
    with pytest.raises(om.TraceException, match="dict of axis -> name") as caught:
        om.trace(lambda x: x * 2, X, axes=axes)
    assert 'axes={"x": {0: "batch"}}' in str(caught.value)


@pytest.mark.parametrize("axes", [5, "batch"])
def test_axes_are_written_by_input(axes):
    with pytest.raises(TypeError, match=re.escape('axes={"x": {0: "batch"}}')):
        om.trace(lambda x: x * 2, X, axes=axes)


def test_starred_arguments_are_inputs_without_a_star():
    def model(*xs):
        return xs[0] + xs[1]

    traced = om.trace(model, X, X, axes={"xs_0": {0: "b"}, "xs_1": {0: "b"}})
    assert [value.name for value in traced.graph.inputs] == ["xs_0", "xs_1"]


def test_what_is_no_model_is_told():
    with pytest.raises(
        TypeError, match=r"ReLU is a class; make one first: om.trace\(ReLU\(\), x\)"
    ):
        om.trace(nn.ReLU, X)
    with pytest.raises(TypeError, match="a int cannot be called"):
        om.trace(5, X)
    with pytest.raises(TypeError, match=r"one by one: om.trace\(model, a, b\)"):
        om.trace(lambda x, y: x + y, (X, X))


def test_a_trace_inside_a_trace_is_told_as_such():
    def model(x):
        return om.trace(lambda y: y, x)

    with pytest.raises(om.TraceException) as caught:
        om.trace(model, X)
    assert caught.value.code == "OM501"


def test_a_module_without_its_start_is_told():
    class Bare(nn.Module):
        def __init__(self):
            self.k = 3

        def forward(self, x):
            return x

    bare = Bare()
    for use in (
        lambda: bare(om.ones(2)),
        lambda: repr(bare),
        lambda: om.trace(bare, X),
        lambda: list(bare.parameters()),
        lambda: bare.state_dict(),
    ):
        with pytest.raises(AttributeError, match=r"did not call super\(\).__init__\(\)"):
            use()


def test_a_missing_folder_is_named(tmp_path):
    traced = om.trace(lambda x: x * 2, X)
    for write in (traced.save_onnx, traced.save):
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            write(tmp_path / "nowhere" / "m.onnx")
