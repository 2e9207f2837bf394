"""The only hook in the tensor layer: who wants to know of reads, writes and records.

Tensors know nothing of tracing. A listener may be installed on a thread; it is told of every
record that concerns a marked tensor, of writes to storages, of random draws and of `no_grad`.
A *mark* is what a listener hangs on a tensor it follows; the tensor asks its own mark before
it lets a value out or in. With no listener and no mark nothing here runs.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from onemodel.tensors.tensor import Tensor


class Mark(Protocol):
    """What a listener knows of one tensor."""

    @property
    def live(self) -> bool:
        """Whether its listener still records."""
        ...

    @property
    def shape(self) -> tuple[Any, ...]:
        """Sizes as the user may see them; symbolic ones are ``Size`` objects."""
        ...

    def describe(self) -> str:
        """``[batch, 3] %h`` for repr; never values, never raises."""
        ...

    def on_read(self, operation: str) -> None:
        """The user asks for the values. Raises to refuse."""
        ...

    def on_write(self, operation: str, view: bool = False) -> None:
        """The user wants to change the values in place. Raises to refuse."""
        ...

    def on_refuse(self, operation: str, refusal: Any) -> None:
        """An operator that must not be traced in this way. Raises."""
        ...

    def owns(self, tensor: Tensor) -> bool:
        """Whether ``tensor`` may be rebound by an in-place operator: not an input's memory."""
        ...

    def saw_birth(self, tensor: Tensor) -> bool:
        """Whether the memory of ``tensor`` was made while its listener recorded."""
        ...

    def on_foreign(self, record: Call) -> None:
        """The tensor meets an operator on a thread where nobody listens."""
        ...

    def on_fault(self, operation: str) -> None:
        """An operator failed on the tensor, and the model may go on without it."""
        ...

    def on_length(self) -> int:
        """``len()`` and iteration: the first size as a plain number."""
        ...


class Call:
    """One operator call, as a listener is told of it: what ran, on what, with which attributes.

    It holds tensors, never their arrays: who else holds an array decides whether it is copied.
    """

    __slots__ = ("attributes", "inputs", "operator")

    def __init__(
        self, operator: Any, inputs: Sequence[Tensor], attributes: Mapping[str, Any]
    ) -> None:
        self.operator = operator
        self.inputs = inputs
        self.attributes = attributes


class Listener(Protocol):
    """Who follows a run on this thread."""

    def on_record(self, record: Call, results: Sequence[Tensor]) -> None: ...

    def on_write(self, tensor: Tensor, operation: str) -> None: ...

    def on_random(self, operation: str) -> None: ...

    def on_no_grad(self) -> None: ...

    def on_layout(self, tensor: Tensor) -> None: ...


class _State(threading.local):
    listener: Listener | None = None


_state = _State()

# Counts recordings; storages remember the count at their birth, so that a listener can tell
# memory it saw being made from memory that was there before.
EPOCH = [0]


def epoch() -> int:
    return EPOCH[0]


def next_epoch() -> None:
    EPOCH[0] += 1


def listener() -> Listener | None:
    """The listener of this thread, if any."""
    return _state.listener


def install(new: Listener | None) -> None:
    """Make ``new`` the listener of this thread (None removes it)."""
    _state.listener = new


def record(entry: Call, results: Sequence[Tensor]) -> None:
    """Tell the listener of a record; without one, ask the marks of its inputs."""
    active = _state.listener
    if active is not None:
        active.on_record(entry, results)
        return
    for tensor in entry.inputs:
        if tensor._mark is not None:
            tensor._mark.on_foreign(entry)


def random_draw(operation: str) -> None:
    """Called by every operator that draws random numbers, before it draws."""
    if _state.listener is not None:
        _state.listener.on_random(operation)


def no_grad() -> None:
    """Called on entering `no_grad`."""
    if _state.listener is not None:
        _state.listener.on_no_grad()


def layout(tensor: Tensor) -> None:
    """Called where elements in an order that no graph means would get into one."""
    if _state.listener is not None:
        _state.listener.on_layout(tensor)


def write(tensor: Tensor, operation: str) -> None:
    """Called before values of ``tensor`` change in place."""
    if tensor._mark is not None:
        tensor._mark.on_write(operation, tensor._view)
    if _state.listener is not None:
        _state.listener.on_write(tensor, operation)
