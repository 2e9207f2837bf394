"""The Gradient node of ai.onnx.preview.training: derivatives of a part of the graph.

The node names its part by the values ``xs`` and ``zs`` it starts from and the value ``y`` it
ends in. :func:`attach_bodies` copies that part into a body; running the node runs the body and
then goes backward through it. Rules are those of the calculus, in NumPy, each for the node
type as of opset 7 and later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.graph.bind import TRAINING
from onemodel.graph.check import describe
from onemodel.graph.copy import copy_graph
from onemodel.graph.errors import GraphError
from onemodel.graph.ir import Graph, Node, Value
from onemodel.session.body import Body
from onemodel.session.program import ControlFlow, compile_program

Rule = Callable[[Node, list[np.ndarray], np.ndarray, np.ndarray], Sequence[np.ndarray | None]]
"""Gradients of the inputs from node, inputs, output and the output's gradient."""


def _matmul(_: Node, x: list[np.ndarray], y: np.ndarray, g: np.ndarray) -> list[np.ndarray]:
    a, b = x
    if a.ndim == 1 or b.ndim == 1:  # write vectors as the matrices they stand for
        left = a[None, :] if a.ndim == 1 else a
        right = b[:, None] if b.ndim == 1 else b
        grown = g.reshape(
            (
                *np.broadcast_shapes(left.shape[:-2], right.shape[:-2]),
                left.shape[-2],
                right.shape[-1],
            )
        )
        da, db = grown @ right.swapaxes(-1, -2), left.swapaxes(-1, -2) @ grown
        return [
            _reduced(da, left.shape).reshape(a.shape),
            _reduced(db, right.shape).reshape(b.shape),
        ]
    return [g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g]


RULES: Mapping[str, Rule] = {
    "Identity": lambda n, x, y, g: [g],
    "Add": lambda n, x, y, g: [g, g],
    "Sub": lambda n, x, y, g: [g, -g],
    "Mul": lambda n, x, y, g: [g * x[1], g * x[0]],
    "Div": lambda n, x, y, g: [g / x[1], -g * x[0] / (x[1] * x[1])],
    "Pow": lambda n, x, y, g: [
        g * x[1] * np.power(x[0], x[1] - 1),
        g * y * np.log(np.where(x[0] > 0, x[0], 1)),
    ],
    "Neg": lambda n, x, y, g: [-g],
    "Abs": lambda n, x, y, g: [g * np.sign(x[0])],
    "Exp": lambda n, x, y, g: [g * y],
    "Log": lambda n, x, y, g: [g / x[0]],
    "Sqrt": lambda n, x, y, g: [g / (2 * y)],
    "Reciprocal": lambda n, x, y, g: [-g * y * y],
    "Sin": lambda n, x, y, g: [g * np.cos(x[0])],
    "Cos": lambda n, x, y, g: [-g * np.sin(x[0])],
    "Tanh": lambda n, x, y, g: [g * (1 - y * y)],
    "Sigmoid": lambda n, x, y, g: [g * y * (1 - y)],
    "Relu": lambda n, x, y, g: [g * (x[0] > 0)],
    "Sum": lambda n, x, y, g: [g] * len(x),
    "MatMul": _matmul,
    "Shape": lambda n, x, y, g: [None],
    "Reshape": lambda n, x, y, g: [g.reshape(x[0].shape), None],
    "Transpose": lambda n, x, y, g: [
        g.transpose(np.argsort(n.attributes.get("perm") or range(g.ndim)[::-1]))  # type: ignore
    ],
}


def attach_bodies(graph: Graph) -> None:
    """Give every Gradient node of ``graph`` its part of the graph as a body, in place.

    Raises:
        GraphError: for names that do not exist, and node types without a rule.
    """
    wanted = [node for node in graph.nodes if (node.domain, node.op_type) == (TRAINING, "Gradient")]
    if not wanted:
        return
    named = {value.name: value for value in graph.values()}
    for node in wanted:
        starts = [*_names(node, "xs"), *_names(node, "zs")]
        missing = [name for name in (*starts, node.attributes.get("y")) if name not in named]
        if missing or len(starts) != len(node.inputs):
            raise GraphError(
                f"{describe(node)}: xs, zs and y name {missing or starts}, which are no values "
                "of the graph, one per input",
                node=describe(node),
            )
        part = _part(graph, [named[name] for name in starts], named[str(node.attributes["y"])])
        count = len(_names(node, "xs"))
        for inner in _active(part, part.inputs[:count]):
            if inner.domain or inner.op_type not in RULES or graph.opset < 7:
                raise GraphError(
                    f"{describe(node)}: there is no derivative of {describe(inner)}; "
                    f"there are those of {', '.join(RULES)}",
                    node=describe(node),
                )
        node.attributes = {"body": part, "count": count}


def _names(node: Node, attribute: str) -> list[str]:
    found = node.attributes.get(attribute, [])
    return [str(name) for name in found] if isinstance(found, list) else []


def _part(graph: Graph, starts: list[Value], end: Value) -> Graph:
    """A copy of the nodes between ``starts`` and ``end``; all else is captured."""
    reached: set[Value] = set(starts)
    forward = []
    for node in graph.nodes:
        if any(value in reached for value in node.inputs):
            reached.update(node.outputs)
            forward.append(node)
    needed, nodes = {end}, []
    for node in reversed(forward):
        if any(value in needed and value not in starts for value in node.outputs):
            needed.update(value for value in node.inputs if value is not None)
            nodes.append(node)
    inner = {value for node in nodes for value in node.outputs} | set(starts)
    captured = {end, *(v for node in nodes for v in node.inputs if v is not None)} - inner
    twin = copy_graph(Graph("gradient", list(starts), [end], nodes[::-1]), keep=captured)
    for value in twin.values():
        value.name += "__gradient"
    return twin


def _active(part: Graph, starts: Sequence[Value]) -> list[Node]:
    """Nodes of ``part`` that ``starts`` reach, in order."""
    reached = set(starts)
    found = []
    for node in part.nodes:
        if any(value in reached for value in node.inputs):
            reached.update(node.outputs)
            found.append(node)
    return found


def gradient(
    node: Node, opsets: Mapping[str, int], captured: list[Value], control_flow: ControlFlow
) -> Body:
    """The function of a Gradient node that :func:`attach_bodies` has prepared."""
    body, count = node.attributes["body"], node.attributes["count"]
    assert isinstance(body, Graph) and isinstance(count, int)
    starts = body.inputs[:count]
    active = _active(body, starts)
    end = body.outputs[0]
    kept = list(
        dict.fromkeys(v for n in active for v in (*n.inputs, *n.outputs[:1], end) if v is not None)
    ) or [end]
    program = compile_program(body, [*body.inputs, *captured], kept, opsets, control_flow)

    def run(*arguments: Any) -> list[Any]:
        arrays = dict(zip(kept, program.run(arguments), strict=True))
        grads: dict[Value, np.ndarray] = {end: np.ones_like(arrays[end])}
        for inner in reversed(active):
            flowing = grads.get(inner.outputs[0])
            if flowing is None:
                continue
            inputs = [arrays[value] for value in inner.inputs if value is not None]
            found = RULES[inner.op_type](inner, inputs, arrays[inner.outputs[0]], flowing)
            for value, array, grad in zip(inner.inputs, inputs, found, strict=True):
                if value is not None and grad is not None:
                    grad = _reduced(np.asarray(grad, array.dtype), array.shape)
                    grads[value] = grads[value] + grad if value in grads else grad
        return [
            grads.get(value, np.zeros_like(argument))
            for value, argument in zip(starts, arguments, strict=False)
        ]

    return Body(run, (program,))


def _reduced(grad: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """``grad`` summed over the axes along which a value of ``shape`` was broadcast."""
    extra = tuple(range(grad.ndim - len(shape)))
    grown = tuple(
        axis + len(extra)
        for axis, size in enumerate(shape)
        if size == 1 and grad.shape[axis + len(extra)] != 1
    )
    return np.sum(grad, axis=extra + grown, keepdims=True).reshape(shape) if extra + grown else grad
