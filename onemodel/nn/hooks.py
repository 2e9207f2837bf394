"""Forward hooks of a module and the handles that take them away again."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_numbers = itertools.count()


@dataclass(frozen=True)
class Hook:
    """A function to be called around ``forward``, with or without keyword arguments."""

    function: Callable[..., Any]
    with_kwargs: bool

    def before(
        self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the hook leaves them.

        Raises RuntimeError where a hook with keyword arguments returns no pair.
        """
        if not self.with_kwargs:
            result = self.function(module, args)
            if result is None:
                return args, kwargs
            return (result if isinstance(result, tuple) else (result,)), kwargs
        result = self.function(module, args, kwargs)
        if result is None:
            return args, kwargs
        if not (isinstance(result, tuple) and len(result) == 2):
            raise RuntimeError(
                "a forward pre-hook with with_kwargs=True must return None or (args, kwargs)"
            )
        return result

    def after(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
        """The output as the hook leaves it."""
        if self.with_kwargs:
            result = self.function(module, args, kwargs, output)
        else:
            result = self.function(module, args, output)
        return output if result is None else result


class HookTable(dict[int, Hook]):
    """Hooks in the order in which they run."""

    def add(self, hook: Hook, first: bool) -> Handle:
        """Put a hook at the end (or first) and return its handle."""
        number = next(_numbers)
        if first:
            later = dict(self)
            self.clear()
            self[number] = hook
            self.update(later)
        else:
            self[number] = hook
        return Handle(self, number)


class Handle:
    """What registering a hook returns; usable as a context manager."""

    def __init__(self, table: HookTable, number: int) -> None:
        self._table = table
        self._number = number

    def remove(self) -> None:
        """Take the hook away. Doing so twice is no error."""
        self._table.pop(self._number, None)

    def __enter__(self) -> Handle:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
