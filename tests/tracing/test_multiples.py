"""Axes whose size is always a multiple: declared, followed, read from the graph, proposed."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel.nn import functional as F


def images(n: int, height: int, width: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, height, width)).astype(np.float32)


def windows(x):
    n, h, w = x.shape
    y = x.view(n, h // 4, 4, w // 6, 6).permute(0, 1, 3, 2, 4)
    return y.reshape(-1, 24).softmax(-1), om.arange(h // 4), om.zeros(h // 2, w // 3) + x.sum()


@pytest.mark.parametrize("opset", [11, 14, 15, 20])
def test_windows_of_a_multiple_are_right_at_every_multiple(opset):
    axes = [{0: "n", 1: "4*rows", 2: "6*columns"}]
    traced = om.trace(windows, images(2, 12, 30), axes=axes, opset=opset)
    assert traced.symbols == {"n": 2, "rows": 3, "columns": 5}
    assert "rows=" in traced.verification and not traced.specialisations
    proto = traced.to_onnx()
    onnx.checker.check_model(proto, full_check=True)
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    assert [d.dim_param for d in dims] == ["n", "4*rows", "6*columns"]
    judge, session = onnxruntime.InferenceSession(proto.SerializeToString()), om.Session(proto)
    for sizes in ((2, 12, 30), (1, 4, 6), (5, 40, 12)):
        x = images(*sizes)
        wanted = [t.numpy() for t in windows(om.tensor(x))]
        for results in (judge.run(None, {"x": x}), list(session.run({"x": x}).values())):
            for got, want in zip(results, wanted, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_one_symbol_may_stand_in_several_multiples():
    def pair(x, y):
        return x.reshape(-1, 2) + y

    x, y = np.ones(10, np.float32), np.ones((5, 2), np.float32)
    traced = om.trace(pair, x, y, axes=[("2*k",), ("k", None)])
    assert [str(d) for d in traced.graph.outputs[0].shape] == ["k", "2"]


@pytest.mark.parametrize(
    ("axes", "code", "part"),
    [
        ({1: "5*h"}, "OM508", "no multiple of 5"),
        ({1: "12*h"}, "OM505", "'h' in axis '12*h'"),
        ({0: "h", 1: "4*h"}, "OM506", "before"),
        ({1: "6*h", 2: "15*w"}, "OM506", "'h'"),
    ],
)
def test_a_declaration_that_does_not_fit_the_example_is_refused(axes, code, part):
    with pytest.raises(om.TraceException, match=code) as caught:
        om.trace(lambda x: x * 2, images(2, 12, 30), axes=[axes])
    assert part in caught.value.message


def test_a_refusal_proposes_the_multiple_under_which_the_code_is_right():
    def skip(x):
        down = F.max_pool2d(F.max_pool2d(x, 2), 2)
        return om.cat([F.interpolate(down, scale_factor=4), x], 1)

    x = images(2, 12, 20)[:, None]
    with pytest.raises(om.TraceException, match="OM403") as caught:
        om.trace(skip, x, axes=[{0: "n", 2: "h", 3: "w"}])
    assert caught.value.suggestions[0].code == 'axes: "4*h"'
    with pytest.raises(om.TraceException, match="OM403") as caught:
        om.trace(windows, images(2, 12, 36), axes=[("n", "h", "w")])
    assert caught.value.suggestions[0].code == 'axes: "12*h", "12*w"'
    om.trace(skip, x, axes=[{0: "n", 2: "4*h", 3: "4*w"}])
