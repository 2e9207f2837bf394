"""What a graph itself can do wrong."""

from __future__ import annotations


class GraphError(ValueError):
    """A graph that breaks a rule of its own; names the graph, the node and the value.

    Attributes:
        graph: name of the graph.
        node: how the node is called in the message, or "".
        value: name of the value, or "".
    """

    def __init__(self, message: str, *, graph: str = "", node: str = "", value: str = "") -> None:
        super().__init__(message)
        self.graph = graph
        self.node = node
        self.value = value
