"""Graphs in our session: fast against ONNX Runtime, exact against fast."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

import onemodel as om
from benchmarks.harness import Result, measure
from onemodel import nn
from onemodel.session.session import Session

FAST, EXACT = 3, 5
"""No graph may cost more: fast times ONNX Runtime, exact times fast."""
LARGE = 3
"""Exact products of 256 and more, times fast."""
_ROUNDS = 7


def run() -> Iterator[Result]:
    yield from _products()
    for name, model, feeds in _graphs():
        yield from _both(name, model, feeds)


def _draw(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def _products() -> Iterator[Result]:
    for m, k, n in ((256, 256, 256), (1024, 1024, 1024), (128, 768, 3072), (64, 576, 3136)):
        node = helper.make_node("MatMul", ["a", "b"], ["y"])
        model = _model([node], {"a": (m, k), "b": (k, n)})
        feeds = {"a": _draw(m, k), "b": _draw(k, n)}
        fast, exact = Session(model), Session(model, mode="exact")
        yield measure(
            f"exact product of {m} x {k} x {n}", _runs(exact, feeds), _runs(fast, feeds),
            "our fast session", LARGE, rounds=_ROUNDS,
        )  # fmt: skip


def _model(nodes: list[onnx.NodeProto], inputs: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, 1, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("y", 1, None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def _runs(session: Session, feeds: dict[str, np.ndarray]) -> Callable[[], object]:
    return lambda: session.run(feeds)


def _both(name: str, model: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> Iterator[Result]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    peer = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    fast, exact = Session(model), Session(model, mode="exact")
    yield measure(
        f"{name}, fast", _runs(fast, feeds), lambda: peer.run(None, feeds),
        "ONNX Runtime", FAST, rounds=_ROUNDS,
    )  # fmt: skip
    yield measure(
        f"{name}, exact", _runs(exact, feeds), _runs(fast, feeds),
        "our fast session", EXACT, rounds=_ROUNDS,
    )  # fmt: skip


def _graphs() -> Iterator[tuple[str, onnx.ModelProto, dict[str, np.ndarray]]]:
    om.manual_seed(0)
    yield ("1 addition", _chain(1), {"x": _draw(4, 8)})
    yield ("20 tiny operators", _chain(20), {"x": _draw(4, 8)})
    layers = [layer for _ in range(4) for layer in (nn.Linear(512, 512), nn.ReLU())]
    yield _traced("MLP of 4 x 512, batch 32", nn.Sequential(*layers), _draw(32, 512))
    layer = nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True, dropout=0.0)
    encoder = nn.TransformerEncoder(layer, 2)
    yield _traced("transformer, 2 layers of 256", encoder, _draw(1, 128, 256))
    yield _traced("LSTM of 128, 64 steps", nn.LSTM(128, 128, batch_first=True), _draw(8, 64, 128))
    folder = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
    for name in ("squeezenet", "shufflenet", "resnet50", "densenet121"):
        model = _seeded(onnx.load(folder / f"light_{name}.onnx"))
        session_input = next(
            value.name for value in model.graph.input
            if value.name not in {tensor.name for tensor in model.graph.initializer}
        )  # fmt: skip
        yield name, model, {session_input: _draw(1, 3, 224, 224)}


def _chain(count: int) -> onnx.ModelProto:
    kinds = ["Add", "Mul", "Relu", "Sub"]
    nodes = []
    for place in range(count):
        kind = kinds[place % 4]
        source = "x" if not place else f"v{place - 1}"
        inputs = [source] if kind == "Relu" else [source, "x"]
        nodes.append(helper.make_node(kind, inputs, ["y" if place == count - 1 else f"v{place}"]))
    return _model(nodes, {"x": (4, 8)})


def _traced(
    name: str, module: nn.Module, example: np.ndarray
) -> tuple[str, onnx.ModelProto, dict[str, np.ndarray]]:
    module.eval()
    traced = om.trace(module, om.tensor(example), verify=False)
    return name, traced.to_onnx(), {traced.graph.inputs[0].name: example}


def _seeded(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with seeded weights in place of the constants that it ships with."""
    arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    draw = np.random.default_rng(11)
    kept = []
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            kept.append(node)
            continue
        shape = [int(size) for size in arrays[node.input[0]]]
        if len(shape) > 1:
            values = draw.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
        else:
            values = np.abs(draw.normal(size=shape)) + 0.5
        tensor = numpy_helper.from_array(values.astype(np.float32), node.output[0])
        model.graph.initializer.append(tensor)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model
