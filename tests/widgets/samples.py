"""Graphs built by hand: a small CNN with scopes and call sites, chains, hostile names."""

from __future__ import annotations

import random

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.errors import CallSite
from onemodel.graph.ir import Graph, Node, Origin, Value

SOURCE = (
    "class Net(nn.Module):",
    "    def forward(self, x):",
    "        x = self.conv1(x)",
    "        x = om.relu(x)",
    "        x = self.pool(x)",
    "        x = om.flatten(x, 1)",
    "        x = self.fc(x)",
    "        return om.softmax(x, dim=1)",
)


def site(line: int, call: str, function: str = "Net.forward", cell: int | None = 3) -> CallSite:
    text = SOURCE[line - 1]
    column = text.index(call)
    return CallSite(
        file="net.py" if cell is None else "/tmp/ipykernel_1/2.py",
        line=line,
        end_line=line,
        column=column,
        end_column=column + len(call),
        function=function,
        source=text,
        cell=cell,
    )


class Builder:
    """Writes nodes one after another, float32 unless told."""

    def __init__(self, name: str = "net", opset: int = 20) -> None:
        self.graph = Graph(name=name, opsets={"": opset})

    def input(self, name: str, shape: tuple, dtype: str = "float32") -> Value:
        value = Value(name, np.dtype(dtype), shape)
        self.graph.inputs.append(value)
        return value

    def constant(self, name: str, array: np.ndarray) -> Value:
        value = Value(name, array.dtype, array.shape)
        self.graph.initializers[value] = array
        return value

    def node(
        self,
        op: str,
        *inputs: Value | None,
        shape: tuple | None = None,
        name: str = "",
        dtype: str = "float32",
        scope: str = "",
        at: CallSite | None = None,
        output: str = "",
        **attributes: object,
    ) -> Value:
        node = Node(op, list(inputs), [], dict(attributes), name=name)
        node.origin = Origin(site=at, scope=scope, operator=op.lower())
        value = Value(output or f"{name or op}_out", np.dtype(dtype), shape, node)
        node.outputs.append(value)
        self.graph.nodes.append(node)
        return value

    def finish(self, *outputs: Value) -> Graph:
        self.graph.outputs.extend(outputs)
        return self.graph


def cnn() -> Graph:
    """conv, relu, pool, flatten by shape arithmetic, linear, softmax; batch is symbolic."""
    b = Builder("digits_cnn")
    rng = np.random.default_rng(0)
    batch = Extent.symbol("batch")
    x = b.input("x", (batch, 1, 8, 8))
    w = b.constant("conv1.weight", rng.standard_normal((8, 1, 3, 3), dtype=np.float32))
    bias = b.constant("conv1.bias", np.zeros(8, np.float32))
    y = b.node(
        "Conv",
        x,
        w,
        bias,
        name="conv1",
        scope="conv1",
        shape=(batch, 8, 8, 8),
        at=site(3, "self.conv1(x)"),
        kernel_shape=[3, 3],
        pads=[1, 1, 1, 1],
        strides=[1, 1],
        output="conv1",
    )
    y = b.node(
        "Relu", y, name="relu", shape=(batch, 8, 8, 8), at=site(4, "om.relu(x)"), output="relu"
    )
    y = b.node(
        "MaxPool",
        y,
        name="pool",
        scope="pool",
        shape=(batch, 8, 4, 4),
        at=site(5, "self.pool(x)"),
        kernel_shape=[2, 2],
        strides=[2, 2],
        output="pool",
    )
    flat = site(6, "om.flatten(x, 1)")
    rows = b.node(
        "Shape", y, name="flatten.shape", dtype="int64", shape=(1,), at=flat, start=0, end=1
    )
    rest = b.constant("flatten.rest", np.array([128], np.int64))
    target = b.node(
        "Concat", rows, rest, name="flatten.concat", dtype="int64", shape=(2,), at=flat, axis=0
    )
    y = b.node("Reshape", y, target, name="flatten", shape=(batch, 128), at=flat, output="flatten")
    fw = b.constant("fc.weight", rng.standard_normal((10, 128), dtype=np.float32) / 10)
    fb = b.constant("fc.bias", np.zeros(10, np.float32))
    y = b.node(
        "Gemm",
        y,
        fw,
        fb,
        name="fc",
        scope="fc",
        shape=(batch, 10),
        at=site(7, "self.fc(x)"),
        transB=1,
        output="fc",
    )
    y = b.node(
        "Softmax",
        y,
        name="softmax",
        shape=(batch, 10),
        at=site(8, "om.softmax(x, dim=1)"),
        axis=1,
        output="probabilities",
    )
    return b.finish(y)


def encoder(layers: int = 12, mask: bool = True) -> Graph:
    """A transformer encoder: one mask read by every layer, two residual adds per layer."""
    b = Builder("encoder")
    n, t = Extent.symbol("batch"), Extent.symbol("time")
    x = b.input("x", (n, t, 64))
    shared = b.input("mask", (n, 1, t, t)) if mask else None
    y = b.node(
        "Add",
        x,
        b.constant("positions", np.zeros((1, 64), np.float32)),
        name="embed",
        shape=(n, t, 64),
    )
    for index in range(layers):
        y = _layer(b, y, shared, f"layers.{index}", n, t)
    y = b.node(
        "LayerNormalization",
        y,
        b.constant("norm.weight", np.ones(64, np.float32)),
        name="norm",
        scope="norm",
        shape=(n, t, 64),
        axis=-1,
    )
    return b.finish(y)


def _layer(b: Builder, x: Value, mask: Value | None, scope: str, n: Extent, t: Extent) -> Value:
    full, attn = (n, t, 64), f"{scope}.attn"

    def weight(part: str) -> Value:
        return b.constant(f"{scope}.{part}.weight", np.zeros((64, 64), np.float32))

    h = b.node(
        "LayerNormalization",
        x,
        b.constant(f"{scope}.norm1.weight", np.ones(64, np.float32)),
        name=f"{scope}.norm1",
        scope=f"{scope}.norm1",
        shape=full,
        axis=-1,
    )
    q = b.node("MatMul", h, weight("q"), name=f"{attn}.q", scope=attn, shape=full)
    k = b.node("MatMul", h, weight("k"), name=f"{attn}.k", scope=attn, shape=full)
    v = b.node("MatMul", h, weight("v"), name=f"{attn}.v", scope=attn, shape=full)
    kt = b.node("Transpose", k, name=f"{attn}.kt", scope=attn, shape=(n, 64, t), perm=[0, 2, 1])
    s = b.node("MatMul", q, kt, name=f"{attn}.scores", scope=attn, shape=(n, t, t))
    if mask is not None:
        s = b.node("Add", s, mask, name=f"{attn}.mask", scope=attn, shape=(n, t, t))
    s = b.node("Softmax", s, name=f"{attn}.softmax", scope=attn, shape=(n, t, t), axis=-1)
    y = b.node("MatMul", s, v, name=f"{attn}.mix", scope=attn, shape=full)
    x = b.node("Add", x, y, name=f"{scope}.add1", scope=scope, shape=full)
    h = b.node("MatMul", x, weight("up"), name=f"{scope}.mlp.up", scope=f"{scope}.mlp", shape=full)
    h = b.node("Gelu", h, name=f"{scope}.mlp.gelu", scope=f"{scope}.mlp", shape=full)
    h = b.node(
        "MatMul", h, weight("down"), name=f"{scope}.mlp.down", scope=f"{scope}.mlp", shape=full
    )
    return b.node("Add", x, h, name=f"{scope}.add2", scope=scope, shape=full)


def chain(length: int = 1000, scopes: int = 0, shared_every: int = 40) -> Graph:
    """A chain of nodes that all now and then read one shared mask."""
    b = Builder("chain")
    x = b.input("x", (4,))
    mask = b.input("mask", (4,))
    ops = ("Relu", "Neg", "Abs", "Tanh", "Exp")
    y = x
    for index in range(length):
        scope = f"block_{index * scopes // length}" if scopes else ""
        if shared_every and index % shared_every == 0:
            y = b.node("Add", y, mask, name=f"add_{index}", shape=(4,), scope=scope)
        else:
            op = ops[(index * 7 + index // 11) % len(ops)]
            y = b.node(op, y, name=f"op_{index}", shape=(4,), scope=scope)
    return b.finish(y)


def tangle(length: int, reads: int, seed: int = 0) -> Graph:
    """Nodes without modules, each of which reads that many earlier values, wherever they are."""
    choose = random.Random(seed)
    b = Builder("tangle")
    values = [b.input("x", (4,))]
    for index in range(length):
        read = choose.sample(values, min(reads, len(values)))
        values.append(b.node("Sum", *read, name=f"sum_{index}", shape=(4,)))
    return b.finish(values[-1])


def mesh(width: int) -> Graph:
    """Two rows of nodes; everything in the second reads everything in the first."""
    b = Builder("mesh")
    x = b.input("x", (4,))
    first = [b.node("Relu", x, name=f"relu_{index}", shape=(4,)) for index in range(width)]
    second = [b.node("Sum", *first, name=f"sum_{index}", shape=(4,)) for index in range(width)]
    return b.finish(*second[:3])


HOSTILE = (
    "a:b:c",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "quote\"s and 'apostrophes'",
    "back\\slash \\N \\l \\",
    "new\nline\rreturn\ttab",
    "]]>--><!--",
    "<b>html label</b>",
    "&amp;&lt;",
    "nul\x00bell\x07",
    "\u202ereversed\u2066",
    "\ud800lone",
    "x" * 10_000,
    "javascript:alert(1)",
    "漢字かな🎉",
)


def hostile() -> Graph:
    """A chain whose values, nodes, scopes and operators carry hostile names."""
    b = Builder(HOSTILE[1])
    y = b.input(HOSTILE[1], (Extent.symbol(HOSTILE[2]), 4))
    for name in HOSTILE:
        w = b.constant(f"w{name}", np.zeros((4, 4), np.float32))
        y = b.node("MatMul", y, w, name=name, output=f"v{name}", scope=name, shape=(None, 4))
        y = b.node(name, y, name=f"{name}2", output=f"u{name}", scope=name, shape=(None, 4))
    return b.finish(y)
