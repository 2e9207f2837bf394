"""What a node with bodies becomes: a function, and what the caller may not be given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from onemodel.session.program import Program


class Body:
    """A node's function with the ids of the constants in its bodies."""

    def __init__(self, function: Callable[..., Any], programs: Sequence[Program]) -> None:
        self._function = function
        self.constants = frozenset().union(*(program.constants for program in programs))

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)
