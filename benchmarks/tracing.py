"""What a trace costs: against the eager run, as it grows, and to bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import onnx

import onemodel as om
from benchmarks.harness import Result, measure
from onemodel import nn


def run() -> Iterator[Result]:
    yield from _layers()
    yield from _growth()
    yield from _export()


def _layers() -> Iterator[Result]:
    om.manual_seed(0)
    draw = np.random.default_rng(0)
    convolutions = [m for _ in range(25) for m in (nn.Conv2d(64, 64, 3, padding=1), nn.ReLU())]
    linear = [m for _ in range(25) for m in (nn.Linear(512, 512), nn.ReLU())]
    for name, layers, shape in (
        ("50 convolutional layers", convolutions, (4, 64, 28, 28)),
        ("50 layers of width 512", linear, (64, 512)),
    ):
        model = nn.Sequential(*layers).eval()
        x = draw.normal(size=shape).astype(np.float32)
        tensor = om.tensor(x)
        yield measure(
            f"tracing {name}",
            lambda model=model, x=x: om.trace(model, x, axes=[{0: "batch"}], verify=False),
            lambda model=model, tensor=tensor: model(tensor),
            "our eager run", 2, rounds=7, seconds=0.1,
        )  # fmt: skip


def _chain(count: int) -> Callable[[om.Tensor], om.Tensor]:
    def model(x: om.Tensor) -> om.Tensor:
        for _ in range(count // 4):
            x = ((x + 1.5) * 0.5).relu().tanh()
        return x

    return model


def _growth() -> Iterator[Result]:
    x = np.ones((2, 8), np.float32)

    def trace(count: int) -> om.TracedModel:
        return om.trace(_chain(count), x, axes=[{0: "batch"}], verify=False)

    # One call on the left is a hundred on the right, so that both count 10,000 operators.
    yield measure(
        "tracing 10,000 operators at once",
        lambda: trace(10_000), lambda: [trace(100) for _ in range(100)],
        "a hundred traces of 100", 1.3, rounds=5, seconds=0.1,
    )  # fmt: skip
    tensor, chain = om.tensor(x), _chain(1000)
    yield measure(
        "tracing 1,000 tiny operators", lambda: trace(1000), lambda: chain(tensor),
        "our eager run", None, rounds=7, seconds=0.1,
    )  # fmt: skip


def _export() -> Iterator[Result]:
    x = np.ones((2, 8), np.float32)
    traced = om.trace(_chain(10_000), x, axes=[{0: "batch"}], verify=False)
    for strip in (False, True):
        proto = traced.to_onnx(strip_metadata=strip)
        nodes = [
            (
                node.op_type, list(node.input), list(node.output), node.name,
                {entry.key: entry.value for entry in node.metadata_props},
            )
            for node in proto.graph.node
        ]  # fmt: skip
        yield measure(
            f"export of 10,000 nodes{', bare' if strip else ' with their lines'}",
            lambda strip=strip: traced.to_bytes(strip_metadata=strip),
            lambda proto=proto, nodes=nodes: _construct(proto, nodes),
            "the same nodes by make_node, SerializeToString", 2, rounds=7, seconds=0.1,
        )  # fmt: skip


def _construct(proto: onnx.ModelProto, nodes: list[tuple]) -> bytes:
    """Node construction and serialisation alone: no checks, no types, no weights."""
    for op_type, inputs, outputs, name, entries in nodes:
        node = onnx.helper.make_node(op_type, inputs, outputs, name=name)
        if entries:
            onnx.helper.set_model_props(node, entries)
    return proto.SerializeToString()
