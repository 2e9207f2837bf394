"""A run of the model that nobody records: for its results, at sizes where no trace can begin.

Its tensors are marked all the same, so that they print without values, and are refused when
they are kept and turn up in a trace.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from onemodel.tensors import seam
from onemodel.tensors.tensor import Tensor


class Probe:
    """A listener that lets everything pass."""

    def __init__(self) -> None:
        self.active = True
        self.epoch = seam.epoch()

    def on_record(self, record: Any, results: Sequence[Tensor]) -> None:
        """Mark what an operator made of marked tensors."""
        for tensor in results:
            tensor._mark = Probed(self, tensor._array, False)
            tensor._tracked = True

    def input(self, array: np.ndarray) -> Tensor:
        """A tensor of ``array`` that is followed."""
        tensor = Tensor(array)
        tensor._mark = Probed(self, array, True)
        tensor._tracked = True
        return tensor

    def on_write(self, tensor: Tensor, operation: str) -> None:
        """Writes are the model's own business here."""

    def on_random(self, operation: str) -> None:
        """Draws are."""

    def on_no_grad(self) -> None:
        """So is this."""

    def on_layout(self, tensor: Tensor) -> None:
        """And this."""


class Probed:
    """The mark of a tensor of such a run: its sizes are plain, its values free until the end."""

    def __init__(self, probe: Probe, array: np.ndarray, is_input: bool) -> None:
        self.probe = probe
        self.array = array
        self.is_input = is_input

    @property
    def live(self) -> bool:
        return self.probe.active

    @property
    def shape(self) -> tuple[Any, ...]:
        return self.array.shape

    def describe(self) -> str:
        return str(list(self.array.shape))

    def on_read(self, operation: str) -> None:
        """Allowed."""

    def on_write(self, operation: str, view: bool = False) -> None:
        """Allowed."""

    def on_refuse(self, operation: str, refusal: Any) -> None:
        """Nothing is traced here that could be refused."""

    def owns(self, tensor: Tensor) -> bool:
        return not self.is_input or tensor._array is not self.array

    def saw_birth(self, tensor: Tensor) -> bool:
        storage = tensor._storage
        return (tensor._epoch if storage is None else storage.epoch) >= self.probe.epoch

    def on_foreign(self, record: Any) -> None:
        """Other threads may take part."""

    def on_fault(self, operation: str) -> None:
        """The model may do with it what it likes."""

    def on_length(self) -> int:
        return self.array.shape[0]


@contextmanager
def probing() -> Iterator[Probe]:
    """A probe that listens on this thread until the end of the block."""
    before = seam.listener()
    seam.next_epoch()
    probe = Probe()
    seam.install(probe)
    try:
        yield probe
    finally:
        probe.active = False
        seam.install(before)
