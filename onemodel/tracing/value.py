"""What a trace knows of one tensor: its graph value, axes, record and example array."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from onemodel.axes.extent import Axes, Extent, axes_text
from onemodel.axes.size import Size, SizeEvent
from onemodel.errors import CallSite
from onemodel.graph.ir import Value
from onemodel.tensors.tensor import Tensor
from onemodel.tracing import sites

if TYPE_CHECKING:
    from onemodel.tracing.tracer import Tracer


@dataclass(eq=False, slots=True)
class TraceRecord:
    """One recorded operator call.

    ``inputs`` are traced values, or graph values for constants. ``attributes`` hold extents
    where the user gave sizes. ``constants`` holds the arrays of captured tensors, those of
    other records, too. ``outputs`` are filled when the record is written.
    """

    number: int
    operator: Any
    inputs: tuple[TracedValue | Value, ...]
    attributes: Mapping[str, Any]
    site: sites.Site | None
    scope: str
    constants: Mapping[Value, np.ndarray]
    outputs: tuple[TracedValue, ...] = ()

    @property
    def call_site(self) -> CallSite | None:
        return sites.resolve(self.site)

    def __repr__(self) -> str:
        names = ", ".join(v.name for v in self.outputs)
        return f"<record {self.number}: {names} = {self.operator.name}>"


class TracedValue:
    """The mark of a traced tensor."""

    __slots__ = ("_shape", "array", "axes", "graph_value", "position", "record", "tracer")

    def __init__(
        self,
        tracer: Tracer,
        graph_value: Value,
        axes: Axes,
        array: np.ndarray,
        record: TraceRecord | None = None,
        position: int = 0,
    ) -> None:
        self.tracer = tracer
        self.graph_value = graph_value
        self.axes = axes
        self.array = array
        self.record = record
        self.position = position
        self._shape: tuple[Any, ...] | None = None

    @property
    def name(self) -> str:
        return self.graph_value.name

    @property
    def live(self) -> bool:
        return not self.tracer.finished

    @property
    def shape(self) -> tuple[Any, ...]:
        if self.tracer.finished:
            return self.array.shape
        if self._shape is None:
            notify = self.tracer.on_size
            self._shape = tuple(
                n if extent.is_static else Size(extent, n, notify)
                for extent, n in zip(self.axes, self.array.shape, strict=True)
            )
        return self._shape

    def describe(self) -> str:
        return f"{axes_text(self.axes)} %{self.name}"

    def on_read(self, operation: str) -> None:
        if not self.tracer.finished:
            self.tracer.refuse_read(self, operation)

    def on_write(self, operation: str, view: bool = False) -> None:
        if not self.tracer.finished:
            self.tracer.refuse_write(self, operation, view)

    def on_refuse(self, operation: str, refusal: Any) -> None:
        if not self.tracer.finished:
            self.tracer.refuse_or_go_on(
                self.tracer.exception(
                    refusal.code, operation, refusal.message, value=self, rewrites=refusal.rewrites
                )
            )

    def owns(self, tensor: Tensor) -> bool:
        return self.record is not None or tensor._array is not self.array

    def saw_birth(self, tensor: Tensor) -> bool:
        storage = tensor._storage
        return (tensor._epoch if storage is None else storage.epoch) >= self.tracer.epoch

    def on_foreign(self, record: Any) -> None:
        if not self.tracer.finished:
            self.tracer.refuse(
                "OM503",
                record.operator.name,
                f"{record.operator.name} met the traced tensor {self.describe()} on a thread "
                "that this trace does not record",
                value=self,
            )

    def on_fault(self, operation: str) -> None:
        """Whether it fails may depend on the sizes: a model that goes on has branched on them."""
        if not self.tracer.finished:
            for extent, size in zip(self.axes, self.array.shape, strict=True):
                if not extent.is_static:
                    self.tracer.note_size(SizeEvent(extent, size, f"an error of {operation}"))

    def on_length(self) -> int:
        extent = self.axes[0]
        if not extent.is_static and not self.tracer.finished:
            event = SizeEvent(extent, self.array.shape[0], "len()", None, self.array.shape[0])
            self.tracer.on_size(event)
        return self.array.shape[0]


@dataclass(frozen=True)
class Specialisation:
    """A symbolic size that was consumed as a fixed number, and where.

    ``outcome`` is what the code got: the number, or the truth of a comparison with ``other``.
    ``hints`` are numbers in the code around, where it got a number.
    """

    extent: Extent
    operation: str
    value: int
    outcome: Any
    other: Extent | None
    site: CallSite | None
    hints: tuple[int, ...] = ()

    @property
    def message(self) -> str:
        """``batch > 3 was True at model.py:9``."""
        where = f" at {self.site.place}" if self.site else ""
        if self.other is not None:
            return f"{self.extent} {self.operation} {self.other} was {self.outcome}{where}"
        return f"{self.operation} of {self.extent} was {self.value}{where}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "extent": str(self.extent),
            "operation": self.operation,
            "value": self.value,
            "outcome": self.outcome if isinstance(self.outcome, (bool, int, float, str)) else None,
            "other": None if self.other is None else str(self.other),
            "message": self.message,
            "site": self.site.to_dict() if self.site else None,
        }
