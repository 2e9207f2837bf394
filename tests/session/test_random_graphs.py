"""Random graphs: sessions against ONNX Runtime, passes and plans against neither.

Every graph has shape arithmetic, views, constants that repeat, branches and small element-wise
chains in random order; each runs at several sizes, several times.
"""

from __future__ import annotations

import random

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from onemodel.session.session import Session

UNARY = ["Neg", "Abs", "Relu", "Sigmoid", "Tanh", "Exp", "Sqrt", "Identity", "Softmax"]
BINARY = ["Add", "Sub", "Mul", "Max", "Min"]


class Writer:
    """Builds a graph of float values of shape (batch, time, 4), in steps drawn at random."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.values = ["x", "z"]
        self.count = 0

    def add(self, op_type: str, inputs: list[str], outputs: int = 1, **attributes) -> list[str]:
        names = [f"v{self.count + place}" for place in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(op_type, inputs, names, **attributes))
        return names

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def pick(self) -> str:
        return self.draw.choice(self.values[-6:])

    def step(self) -> None:
        kind = self.draw.choice(
            [
                self.unary,
                self.binary,
                self.constants,
                self.views,
                self.shapes,
                self.branch,
                self.split,
                self.matmul,
                self.mask,
            ]
        )
        self.values.append(kind())

    def unary(self) -> str:
        op_type = self.draw.choice(UNARY)
        value = self.pick()
        if op_type in ("Exp", "Sqrt"):
            (value,) = self.add("Sigmoid", [value])
        return self.add(op_type, [value])[0]

    def binary(self) -> str:
        return self.add(self.draw.choice(BINARY), [self.pick(), self.pick()])[0]

    def constants(self) -> str:
        weight = np.float32(self.draw.choice([0.5, -1.25, 2.0]))
        if self.draw.random() < 0.5:
            weight = np.full(4, weight, np.float32)
        one, two = self.constant(np.asarray(weight)), self.constant(np.asarray(weight))
        (both,) = self.add("Add", [one, two])
        return self.add("Mul", [self.pick(), both])[0]

    def views(self) -> str:
        perm = self.draw.choice([[1, 0, 2], [0, 2, 1], [2, 1, 0]])
        (turned,) = self.add("Transpose", [self.pick()], perm=perm)
        if self.draw.random() < 0.5:
            (turned,) = self.add(self.draw.choice(["Neg", "Abs"]), [turned])
        return self.add("Transpose", [turned], perm=np.argsort(perm).tolist())[0]

    def shapes(self) -> str:
        (shape,) = self.add("Shape", ["x"])
        first = self.constant(np.array([0]))
        (batch,) = self.add("Gather", [shape, first])
        target = self.add("Concat", [batch, self.constant(np.array([-1]))], axis=0)[0]
        (flat,) = self.add("Reshape", [self.pick(), target])
        (scaled,) = self.add("Mul", [flat, self.constant(np.float32(0.75))])
        return self.add("Reshape", [scaled, shape])[0]

    def branch(self) -> str:
        (size,) = self.add("Size", ["x"])
        (large,) = self.add("Greater", [size, self.constant(np.array(20))])
        value, other = self.pick(), self.pick()

        def body(name: str, nodes: list[onnx.NodeProto]) -> onnx.GraphProto:
            out = helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)
            return helper.make_graph(nodes, name, [], [out])

        mark = self.count
        then = body("then", [helper.make_node("Identity", [value], [f"t{mark}"])])
        otherwise = body(
            "else",
            [
                helper.make_node("Neg", [other], [f"n{mark}"]),
                helper.make_node("Add", [f"n{mark}", value], [f"e{mark}"]),
            ],
        )
        return self.add("If", [large], then_branch=then, else_branch=otherwise)[0]

    def split(self) -> str:
        parts = self.add("Split", [self.pick()], 2, axis=2, num_outputs=2)
        self.draw.shuffle(parts)
        return self.add("Concat", parts, axis=2)[0]

    def matmul(self) -> str:
        weight = np.linspace(-0.5, 0.5, 16, dtype=np.float32).reshape(4, 4)
        return self.add("MatMul", [self.pick(), self.constant(weight)])[0]

    def mask(self) -> str:
        (which,) = self.add("Less", [self.pick(), self.pick()])
        return self.add("Where", [which, self.pick(), self.constant(np.float32(-1))])[0]

    def model(self) -> onnx.ModelProto:
        outputs = list(dict.fromkeys([self.values[-1], self.draw.choice(self.values[2:])]))
        shape = ["batch", "time", 4]

        def info(name: str) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        graph = helper.make_graph(
            self.nodes, "g", [info("x"), info("z")], [info(o) for o in outputs], self.initializers
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
        onnx.checker.check_model(model)
        return model


@pytest.mark.parametrize("seed", range(40))
def test_a_random_graph_gives_the_values_of_onnx_runtime(seed: int) -> None:
    writer = Writer(seed)
    for _ in range(random.Random(seed).randint(3, 25)):
        writer.step()
    model = writer.model()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    judge = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    session = Session(model)
    generator = np.random.default_rng(seed)
    intermediates = [name for name in writer.values if name not in ("x", "z")]
    for shape in [(1, 2, 4), (3, 5, 4), (1, 2, 4), (2, 1, 4)]:
        feeds = {name: generator.standard_normal(shape).astype(np.float32) for name in "xz"}
        before = {name: array.copy() for name, array in feeds.items()}
        first = Session(model, passes=()).run(feeds)
        for run in range(3):
            found = session.run(feeds)
            for name, wanted in zip(found, judge.run(None, feeds), strict=True):
                scale = 1e-4 * max(1.0, float(np.abs(wanted).max()))
                np.testing.assert_allclose(found[name], wanted, rtol=0, atol=scale)
                assert found[name].tobytes() == first[name].tobytes(), (name, run)
                found[name][...] = np.nan
        every = session.run(feeds, intermediates)
        for name in first:
            if name in every:
                assert every[name].tobytes() == first[name].tobytes()
        for name, array in feeds.items():
            assert array.tobytes() == before[name].tobytes()
