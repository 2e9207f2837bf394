"""Whether operators keep records for gradients, per thread."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, TypeVar

from onemodel.tensors import seam

F = TypeVar("F", bound=Callable[..., Any])


class _Mode(threading.local):
    enabled: bool = True


mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether operators keep records for gradients in this thread."""
    return mode.enabled


class _GradMode:
    """Context manager and decorator that sets the mode and restores it."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._before: list[bool] = []

    def __enter__(self) -> None:
        if not self._enabled:
            seam.no_grad()
        self._before.append(mode.enabled)
        mode.enabled = self._enabled

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        mode.enabled = self._before.pop()

    def __call__(self, function: F) -> F:
        enabled = self._enabled

        @wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            with _GradMode(enabled):
                return function(*args, **kwargs)

        return inner  # type: ignore[return-value]


class no_grad(_GradMode):
    """No records inside: ``with om.no_grad():`` or ``@om.no_grad()``.

    Refused while a trace records (NO_GRAD_IN_TRACE): what runs inside would be lost to it.
    """

    def __init__(self) -> None:
        super().__init__(False)


class enable_grad(_GradMode):
    """Records again inside a `no_grad` block."""

    def __init__(self) -> None:
        super().__init__(True)


class set_grad_enabled(_GradMode):
    """Records inside if ``enabled``."""
