"""What can be wrong with a model file."""

from __future__ import annotations

from collections.abc import Sequence


class ModelError(ValueError):
    """A model that cannot be read; the text names file, node and field.

    Attributes:
        reason: what is wrong, without the place.
        file: path as it was given, or "".
        node: the node, as messages call it, or "".
        field: the protobuf field, such as ``graph.initializer['w'].dims``, or "".
        hint: what to do instead, or "".
    """

    def __init__(
        self, reason: str, *, file: str = "", node: str = "", field: str = "", hint: str = ""
    ) -> None:
        self.reason, self.file, self.node, self.field, self.hint = reason, file, node, field, hint
        super().__init__(reason)

    def __str__(self) -> str:
        place = ", ".join(part for part in (self.file, self.node, self.field) if part)
        text = f"{place}: {self.reason}" if place else self.reason
        return f"{text}; {self.hint}" if self.hint else text

    def at(self, *, file: str = "", node: str = "", field: str = "") -> ModelError:
        """The same error with the places it does not yet know filled in."""
        self.file = self.file or file
        self.node = self.node or node
        self.field = self.field or field
        return self

    def __reduce__(self):
        return _rebuild, (type(self), self.__dict__)


def _rebuild(kind: type[ModelError], state: dict) -> ModelError:
    error = kind.__new__(kind, state["reason"])
    error.__dict__.update(state)
    return error


class UnsupportedOperatorsError(ModelError):
    """A model with node types that cannot be run here: all of them, in one error.

    ``operators`` holds pairs of the node type (``domain::Name-opset``) and the node.
    """

    def __init__(self, operators: Sequence[tuple[str, str]], *, file: str = "") -> None:
        self.operators = tuple(operators)
        lines = by_type(self.operators)
        count = f"{len(lines)} operator" + ("s are" if len(lines) != 1 else " is")
        super().__init__(
            f"UnsupportedOperation: {count} not supported: " + "; ".join(lines), file=file
        )


def by_type(operators: Sequence[tuple[str, str]]) -> list[str]:
    """``Type: node, node and 3 more`` of pairs of a node type and a node, sorted."""
    found: dict[str, list[str]] = {}
    for operator, node in operators:
        found.setdefault(operator, []).append(node)
    return [f"{name}: {_listed(nodes)}" for name, nodes in sorted(found.items())]


def _listed(nodes: Sequence[str], most: int = 5) -> str:
    more = f" and {len(nodes) - most} more" if len(nodes) > most else ""
    return ", ".join(nodes[:most]) + more
