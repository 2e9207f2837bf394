"""What a rule sees of one node: shapes and contents of its inputs, and its attributes.

Sizes are extents throughout, None where unknown. The *content* of a small integer vector (the
sizes a shape chain computes with) is an array of extents, again None where unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from onemodel.axes.extent import Extent
from onemodel.graph.ir import Node, Value

Dim: TypeAlias = "Extent | None"
Dims: TypeAlias = "tuple[Dim, ...] | None"
"""The sizes of a value; None where not even the rank is known."""

Content: TypeAlias = "np.ndarray | None"
"""An object array of extents (None where unknown), of rank 0 or more; or not followed."""

MAX_CONTENT = 64
"""How many elements a followed content has at most."""

ONE = Extent(1)
ZERO = Extent(0)


class UnknownError(Exception):
    """A rule cannot tell; what it would have told stays unknown."""


@dataclass(frozen=True)
class View:
    """One node and what is known before it."""

    node: Node
    opset: int
    shapes: Mapping[Value, Dims]
    contents: Mapping[Value, Content]
    arrays: Mapping[Value, np.ndarray]

    def has(self, place: int) -> bool:
        """Whether the input is there."""
        return place < len(self.node.inputs) and self.node.inputs[place] is not None

    def value(self, place: int) -> Value:
        """The input. Raises UnknownError where it is omitted."""
        value = self.node.inputs[place] if place < len(self.node.inputs) else None
        if value is None:
            raise UnknownError
        return value

    def dims(self, place: int = 0) -> Dims:
        """Sizes of an input; None where unknown."""
        return self.shapes.get(self.value(place))

    def known(self, place: int = 0) -> tuple[Dim, ...]:
        """Sizes of an input. Raises UnknownError where the rank is unknown."""
        dims = self.dims(place)
        if dims is None:
            raise UnknownError
        return dims

    def content(self, place: int = 0) -> np.ndarray:
        """The followed content of an input. Raises UnknownError without one."""
        content = self.contents.get(self.value(place))
        if content is None:
            raise UnknownError
        return content

    def vector(self, place: int) -> list[Dim]:
        """A content as a list. Raises UnknownError without one."""
        return list(self.content(place).reshape(-1))

    def integers(self, place: int) -> list[int]:
        """A content of which every element is a plain integer. Raises UnknownError."""
        return [static(element) for element in self.vector(place)]

    def array(self, place: int) -> np.ndarray:
        """The array of a constant input. Raises UnknownError where it is none."""
        array = self.arrays.get(self.value(place))
        if array is None:
            raise UnknownError
        return array

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute of the node."""
        return self.node.attributes.get(name, default)

    def axes(self, place: int) -> list[int] | None:
        """Axes given as attribute ``axes`` or as an input; None where left out."""
        if "axes" in self.node.attributes:
            return [int(axis) for axis in self.node.attributes["axes"]]  # type: ignore[union-attr]
        return self.integers(place) if self.has(place) else None

    @property
    def outputs(self) -> int:
        """How many outputs the node lists."""
        return len(self.node.outputs)


Rule: TypeAlias = Callable[[View], "list[Dims]"]
ContentRule: TypeAlias = Callable[[View], Content]

SHAPES: dict[tuple[str, str], Rule] = {}
CONTENTS: dict[tuple[str, str], ContentRule] = {}


def shape_rule(*names: str, domain: str = "") -> Callable[[Rule], Rule]:
    """Enter the rule that gives the sizes of the outputs of node types."""

    def enter(rule: Rule) -> Rule:
        SHAPES.update({(domain, name): rule for name in names})
        return rule

    return enter


def content_rule(*names: str) -> Callable[[ContentRule], ContentRule]:
    """Enter the rule that gives the content of the first output of node types."""

    def enter(rule: ContentRule) -> ContentRule:
        CONTENTS.update({("", name): rule for name in names})
        return rule

    return enter


# -- helpers of rules ------------------------------------------------------------------------


def static(size: Dim) -> int:
    """The integer of a static size. Raises UnknownError for any other."""
    if size is None or not size.is_static:
        raise UnknownError
    return size.value


def place_of(axis: int, rank: int) -> int:
    """``axis`` counted from the front. Raises UnknownError where there is none."""
    if not -rank <= axis < rank:
        raise UnknownError
    return axis % rank


def product(sizes: Iterable[Dim]) -> Dim:
    """The product of sizes; None where one of them is unknown."""
    result = ONE
    for size in sizes:
        if size is None:
            return None
        result = result * size
    return result


def broadcast_dim(left: Dim, right: Dim) -> Dim:
    """The size of two axes that a valid run broadcasts against each other.

    Two different symbols stay unknown, as either may be 1; a fixed size other than 1 wins,
    as whatever it meets is that size or 1.
    """
    if left is not None and left == ONE:
        return right
    if right is not None and right == ONE:
        return left
    for size in (left, right):
        if size is not None and size.is_static:
            return size
    return left if left is not None and right is not None and left == right else None


def broadcast_dims(*operands: Dims) -> Dims:
    """Sizes after broadcasting; None where a rank is unknown."""
    shapes = [dims for dims in operands if dims is not None]
    if len(shapes) != len(operands):
        return None
    rank = max(map(len, shapes), default=0)
    result: list[Dim] = []
    for place in range(-rank, 0):
        size: Dim = ONE
        for dims in shapes:
            if len(dims) >= -place:
                size = broadcast_dim(size, dims[place])
        result.append(size)
    return tuple(result)
