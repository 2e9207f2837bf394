"""Sizes and constants in a graph: each one once, in the form in which it is read."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import onnxruntime
import pytest

import onemodel as om
from onemodel import nn
from onemodel.nn import functional as F


def traced(function, *shapes: tuple[int, ...], axes, opset: int = 20) -> onnx.ModelProto:
    """The model of ``function``; right in ONNX Runtime at the traced and at another size."""
    generator = np.random.default_rng(0)
    arrays = [generator.normal(size=shape).astype(np.float32) for shape in shapes]
    model = om.trace(function, *arrays, axes=axes, opset=opset)
    proto = model.to_onnx()
    onnx.checker.check_model(proto, full_check=True)
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    for step in (0, 3):
        sizes = {name: size + step for name, size in model.symbols.items()}
        feeds = {}
        for value in model.inputs:
            shape = [extent.evaluate(sizes) for extent in value.axes]
            feeds[value.name] = generator.normal(size=shape).astype(np.float32)
        result = function(*map(om.tensor, feeds.values()))
        wanted = result if isinstance(result, tuple) else (result,)
        for got, want in zip(judge.run(None, feeds), wanted, strict=True):
            np.testing.assert_allclose(got, want.detach().numpy(), rtol=1e-5, atol=1e-5)
    return proto


def nodes(proto: onnx.ModelProto) -> Counter[str]:
    return Counter(node.op_type for node in proto.graph.node)


def attention(x):
    n, t, c = x.shape
    heads = [x.view(n, t, 2, c // 2).transpose(1, 2) for _ in range(3)]
    future = om.full((t, t), float("-inf")).triu(1)
    y = ((heads[0] @ heads[1].mT + future).softmax(-1) @ heads[2]).transpose(1, 2)
    return y.reshape(n, t, c)


def test_a_size_that_stays_in_its_place_is_copied():
    proto = traced(attention, (2, 5, 8), axes=[("n", "t", None)])
    counts = nodes(proto)
    assert counts["Reshape"] == 4 and counts["Shape"] == 1 and counts["Concat"] == 1
    constants = {i.name: onnx.numpy_helper.to_array(i).tolist() for i in proto.graph.initializer}
    targets = [constants[n.input[1]] for n in proto.graph.node if n.op_type == "Reshape"]
    assert targets == [[0, 0, 2, 4]] * 3 + [[0, 0, 8]]


def test_a_reshape_of_an_empty_batch_is_right():
    proto = om.trace(
        lambda x: x.reshape(x.shape[0], x.shape[1], 2, 3).flatten(2),
        np.ones((2, 5, 6), np.float32),
        axes=[("n", "t", None)],
    ).to_onnx()
    judge = onnxruntime.InferenceSession(proto.SerializeToString())
    for shape in ((0, 4, 6), (3, 0, 6), (0, 0, 6)):
        feeds = {"x": np.ones(shape, np.float32)}
        assert judge.run(None, feeds)[0].shape == shape
        assert om.Session(proto).run(feeds)["output"].shape == shape


def test_a_shape_that_a_value_has_is_read_at_once():
    proto = traced(lambda x: x.relu() * om.ones_like(x), (2, 5, 6), axes=[("n", "t", None)])
    assert nodes(proto) == {"Relu": 1, "Shape": 1, "ConstantOfShape": 1, "Mul": 1}


def test_neighbours_are_read_together():
    proto = traced(lambda x: x.sum() + om.zeros(7, *x.shape[1:]), (2, 5, 6), axes=[("n", "t", "d")])
    assert nodes(proto)["Shape"] == 1 and nodes(proto)["Concat"] == 1


@pytest.mark.parametrize("opset", [11, 14, 20])
def test_the_same_sizes_are_written_once(opset):
    def model(x):
        n, t, _ = x.shape
        table = om.zeros(t, n) + om.arange(t).reshape(t, 1)
        again = om.zeros(t, n) + om.arange(t).reshape(t, 1) * t + (t * n + 1)
        rest = om.zeros(t * n + 1) + t
        return x.sum(2).T + table + again, rest * x.sum()

    proto = traced(model, (2, 5, 6), axes=[("n", "t", None)], opset=opset)
    sizes = ("Shape", "Range", "Squeeze", "Concat", "Mul", "Add", "Gather")
    found = [(n.op_type, tuple(n.input)) for n in proto.graph.node if n.op_type in sizes]
    attributes = [n.attribute for n in proto.graph.node if n.op_type in sizes]
    keys = Counter((*f, str(a)) for f, a in zip(found, attributes, strict=True))
    assert max(keys.values()) == 1
    assert nodes(proto)["Range"] == 1


def test_a_size_is_a_result_after_it_was_a_step():
    def model(x):
        places = om.arange(x.shape[1])
        size = om.scalar_tensor(x.shape[1])
        return x.sum(2) + places, size.reshape(1, 1).expand(2, 3), om.arange(x.shape[1]) - places

    traced(model, (2, 5, 6), axes=[("n", "t", None)])


def test_division_needs_no_correction_where_nothing_is_negative():
    proto = traced(lambda x: x[: x.shape[0] // 2 + 1], (5, 2), axes=[("n", None)])
    assert nodes(proto)["Div"] == 1 and not nodes(proto)["Less"]
    proto = traced(
        lambda x: om.zeros((x.shape[0] - x.shape[1]) // 2 + 9) + x.sum(), (5, 8), axes=[("n", "t")]
    )
    assert nodes(proto)["Less"] == 1


class Weights(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.slope = nn.PReLU(5)
        self.norm = nn.GroupNorm(5, 5)
        self.tied = nn.Linear(6, 6, bias=False)
        self.tied.weight = self.linear.weight

    def forward(self, x):
        y = F.softmax(self.norm(self.slope(self.linear(x))), -1)
        return self.tied(y) + y @ self.linear.weight.t()


@pytest.mark.parametrize("opset", [9, 13, 20])
def test_no_node_reads_constants_alone(opset):
    model = Weights().eval()
    proto = traced(model, (2, 5, 6), axes=[("n", None, None)], opset=opset)
    known = {i.name for i in proto.graph.initializer}
    assert not [n for n in proto.graph.node if n.input and known.issuperset(filter(None, n.input))]
    weight = model.linear.weight.detach().numpy()
    stored = {i.name: onnx.numpy_helper.to_array(i) for i in proto.graph.initializer}
    # The layers share one view; the user's own transpose is another.
    views = sorted(name for name in stored if name.startswith("linear.weight"))
    assert views == ["linear.weight.view_0", "linear.weight.view_1"]
    assert all(np.array_equal(stored[name], weight.T) for name in views)


def test_views_of_weights_are_written_again_for_another_opset():
    model = om.trace(Weights().eval(), np.ones((2, 5, 6), np.float32), axes=[("n", None, None)])
    for opset in (9, 13, 21):
        names = {i.name for i in model.to_onnx(opset=opset).graph.initializer}
        assert "linear.weight.view_1" in names
