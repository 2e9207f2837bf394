"""Sizes after nodes with bodies; the bodies are followed with what is known outside."""

from __future__ import annotations

from collections.abc import Callable

from onemodel.graph.infer.view import Dim, Dims
from onemodel.graph.ir import Graph, Node, Value

Follow = Callable[[Graph], None]


def if_(node: Node, shapes: dict[Value, Dims], follow: Follow) -> list[Dims]:
    """What both branches agree on."""
    branches = list(node.subgraphs())
    for body in branches:
        follow(body)
    result: list[Dims] = []
    for place in range(len(node.outputs)):
        sides = [shapes.get(body.outputs[place]) for body in branches]
        if any(side is None for side in sides) or len({len(side) for side in sides}) != 1:  # type: ignore[arg-type]
            result.append(None)
            continue
        result.append(tuple(_agreed(list(sizes)) for sizes in zip(*sides, strict=True)))  # type: ignore[arg-type]
    return result


def _agreed(sizes: list[Dim]) -> Dim:
    first, *others = sizes
    return first if first is not None and all(size == first for size in others) else None


def loop(node: Node, shapes: dict[Value, Dims], follow: Follow) -> list[Dims]:
    """Scan outputs: an unknown number of what the body makes each time."""
    (body,) = node.subgraphs()
    follow(body)
    states = len(node.inputs) - 2
    result: list[Dims] = [None] * states
    for value in body.outputs[1 + states :]:
        dims = shapes.get(value)
        result.append(None if dims is None else (None, *dims))
    return result


def scan(node: Node, shapes: dict[Value, Dims], follow: Follow) -> list[Dims]:
    """As a loop; the bodies of every version are followed."""
    for body in node.subgraphs():
        follow(body)
    return [None] * len(node.outputs)


CONTROL: dict[tuple[str, str], Callable[[Node, dict[Value, Dims], Follow], list[Dims]]] = {
    ("", "If"): if_,
    ("", "Loop"): loop,
    ("", "Scan"): scan,
}
