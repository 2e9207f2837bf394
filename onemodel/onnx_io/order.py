"""Topological order of the nodes of a file, captures of their bodies included."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Protocol

from onnx import AttributeProto, GraphProto, NodeProto

from onemodel.onnx_io.errors import ModelError


class Names(Protocol):
    """The names that are defined before any node runs."""

    def visible(self, name: str) -> bool:
        """Whether the graph or one around it defines ``name``."""
        ...

    def owns(self, name: str) -> bool:
        """Whether the graph itself defines ``name``."""
        ...


def in_order(nodes: Sequence[NodeProto], names: Names, field: str) -> tuple[list[int], bool]:
    """Indices of ``nodes`` so that every value is written before it is read.

    Args:
        nodes: the nodes of one graph.
        names: what is defined outside the nodes.
        field: how errors call the graph.

    Returns:
        The order, and whether it differs from the file's. Nodes keep their places as far as
        possible.

    Raises:
        ModelError: for values written twice, read but never written, or in a cycle.
    """
    producer: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in node.output:
            if name and name in producer:
                raise ModelError(
                    f"value {name!r} is written by node {producer[name]} and by node {index}",
                    node=called(node, index),
                    field=f"{field}.node[{index}].output",
                )
            if name and names.owns(name):
                raise ModelError(
                    f"the name {name!r} of an input or initializer is written twice",
                    node=called(node, index),
                    field=f"{field}.node[{index}].output",
                )
            producer[name] = index
    producer.pop("", None)
    needs = [_needs(node, index, producer, names, field) for index, node in enumerate(nodes)]
    if all(max(need, default=-1) < index for index, need in enumerate(needs)):
        return list(range(len(nodes))), False
    return _sorted(nodes, needs, field), True


def called(node: NodeProto, index: int | None = None) -> str:
    """``node 3 'conv1' (Conv)``."""
    number = "node" if index is None else f"node {index}"
    operator = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
    return f"{number} {node.name!r} ({operator})" if node.name else f"{number} ({operator})"


def _needs(
    node: NodeProto,
    index: int,
    producer: dict[str, int],
    names: Names,
    field: str,
) -> set[int]:
    needed = set()
    for name in reads(node):
        if name in producer:
            needed.add(producer[name])
        elif not names.visible(name):
            raise ModelError(
                f"value {name!r} is read and never written",
                node=called(node, index),
                field=f"{field}.node[{index}].input",
            )
    return needed


def _sorted(nodes: Sequence[NodeProto], needs: list[set[int]], field: str) -> list[int]:
    waiting = [len(need) for need in needs]
    readers: list[list[int]] = [[] for _ in nodes]
    for index, need in enumerate(needs):
        for other in need:
            readers[other].append(index)
    ready = [index for index, count in enumerate(waiting) if not count]
    order = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for reader in readers[index]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        stuck = [called(nodes[i], i) for i, count in enumerate(waiting) if count]
        more = f" and {len(stuck) - 5} more" if len(stuck) > 5 else ""
        raise ModelError(
            f"the graph has a cycle through {', '.join(stuck[:5])}{more}", field=f"{field}.node"
        )
    return order


def reads(node: NodeProto) -> Iterator[str]:
    """Names that ``node`` reads, those its bodies take from outside included."""
    yield from (name for name in node.input if name)
    for body in bodies(node):
        yield from _free(body)


def bodies(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs in the attributes of ``node``."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def _free(body: GraphProto) -> Iterator[str]:
    """Names that ``body`` reads and does not define."""
    own = {info.name for info in body.input}
    own.update(tensor.name for tensor in body.initializer)
    own.update(tensor.values.name for tensor in body.sparse_initializer)
    for node in body.node:
        own.update(node.output)
    for node in body.node:
        yield from (name for name in reads(node) if name not in own)
    yield from (info.name for info in body.output if info.name not in own)
