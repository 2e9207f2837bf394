"""What a size and a quotient of sizes share: numbers that tell when they are consumed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np


class Watched:
    """An immutable number that compares by ``_compare`` and tells conversions by ``_consume``."""

    __slots__ = ()

    value: Any

    def _consume(self, operation: str, outcome: Any) -> Any:
        """Tell ``operation`` and give ``outcome``."""
        raise NotImplementedError

    def _compare(self, symbol: str, function: Callable[[Any, Any], Any], other: Any) -> Any:
        """``function(self, other)``, told unless every assignment decides it alike."""
        raise NotImplementedError

    # -- comparison ----------------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return self._compare("==", operator.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._compare("!=", operator.ne, other)

    def __lt__(self, other: Any) -> Any:
        return self._compare("<", operator.lt, other)

    def __le__(self, other: Any) -> Any:
        return self._compare("<=", operator.le, other)

    def __gt__(self, other: Any) -> Any:
        return self._compare(">", operator.gt, other)

    def __ge__(self, other: Any) -> Any:
        return self._compare(">=", operator.ge, other)

    # A subclass says how its number is hashed; without, Python would make it unhashable.
    def __hash__(self) -> int:
        raise NotImplementedError

    # -- conversion ----------------------------------------------------------------------------

    def __complex__(self) -> complex:
        return self._consume("__complex__", complex(self.value))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._consume("__array__", self.value), dtype=dtype)

    def __str__(self) -> str:
        return self._consume("__str__", str(self.value))

    def __format__(self, specification: str) -> str:
        return self._consume("__format__", format(self.value, specification))

    # -- a number that never changes -----------------------------------------------------------

    def __pos__(self) -> Self:
        return self

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self
