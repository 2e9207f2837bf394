"""What a caller of a session, or a node in it, can do wrong."""

from __future__ import annotations

from collections.abc import Sequence

from onemodel.graph.ir import Node
from onemodel.onnx_io.errors import by_type


class FeedError(ValueError):
    """A feed or an output name that the model does not take; says what was expected.

    ``name`` is the input or output it is about.
    """

    def __init__(self, message: str, *, name: str = "") -> None:
        super().__init__(message)
        self.name = name


class InexactOperatorsError(ValueError):
    """A model with node types that have no exact kernel: all of them, in one error.

    ``operators`` holds pairs of the node type with its opset and the node.
    """

    def __init__(self, operators: Sequence[tuple[str, str]]) -> None:
        self.operators = tuple(operators)
        lines = by_type(self.operators)
        count = f"{len(lines)} operator" + ("s have" if len(lines) != 1 else " has")
        super().__init__(
            f"{count} no exact kernel: {'; '.join(lines)}. Run this model with mode='fast', "
            "whose last bits may differ from machine to machine"
        )


class RunError(RuntimeError):
    """A node that failed while it ran.

    Attributes:
        node: name of the node, or of its first output.
        op_type: its node type.
        place: where the user's source made it (``model.py:9``), or "".
    """

    def __init__(self, node: Node, error: Exception) -> None:
        self.node = node.name or next((v.name for v in node.outputs if v.name), "")
        self.op_type = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
        site = None if node.origin is None else node.origin.site
        self.place = "" if site is None else site.place
        where = f", from {self.place}" if self.place else ""
        super().__init__(
            f"node {self.node!r} ({self.op_type}{where}) failed: {type(error).__name__}: {error}"
        )


class CancelledError(RuntimeError):
    """A run that its progress callback ended.

    Attributes:
        done: steps that were finished.
        total: steps of the run.
    """

    def __init__(self, done: int, total: int, node: str) -> None:
        super().__init__(f"the run was cancelled before {node}, after {done} of {total} steps")
        self.done = done
        self.total = total
