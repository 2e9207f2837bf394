"""What a trace knows of one tensor: its graph value, axes, record and example array.

Who owns what: the tracer, and after it the traced model, holds records, records hold values, and a
value knows its record and its tracer weakly. So a tensor that outlives its trace keeps its own
array alone, and a model that is dropped is gone at once, without the garbage collector.
"""

from __future__ import annotations

import weakref
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


@dataclass(eq=False, slots=True, weakref_slot=True)
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


class SizeNotice:
    """What the sizes of one trace are told to: the user may keep a size longer than the trace."""

    __slots__ = ("_tracer",)

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = weakref.ref(tracer)

    def __call__(self, event: SizeEvent) -> None:
        tracer = self._tracer()
        if tracer is not None:
            tracer.on_size(event)


class TracedValue:
    """The mark of a traced tensor."""

    __slots__ = ("_record", "_shape", "_tracer", "array", "axes", "graph_value", "position")

    def __init__(
        self,
        tracer: Tracer,
        graph_value: Value,
        axes: Axes,
        array: np.ndarray,
        record: TraceRecord | None = None,
        position: int = 0,
    ) -> None:
        self._tracer = weakref.ref(tracer)
        self.graph_value = graph_value
        self.axes = axes
        self.array = array
        self._record = None if record is None else weakref.ref(record)
        self.position = position
        self._shape: tuple[Any, ...] | None = None

    @property
    def tracer(self) -> Tracer | None:
        """The trace it belongs to; None once nobody holds that."""
        return self._tracer()

    @property
    def record(self) -> TraceRecord | None:
        """The call that made it; None for an input, and once nobody holds the recording."""
        return None if self._record is None else self._record()

    def _open_tracer(self) -> Tracer | None:
        tracer = self._tracer()
        return None if tracer is None or tracer.finished else tracer

    @property
    def name(self) -> str:
        return self.graph_value.name

    @property
    def live(self) -> bool:
        return self._open_tracer() is not None

    @property
    def shape(self) -> tuple[Any, ...]:
        tracer = self._open_tracer()
        if tracer is None:
            return self.array.shape
        if self._shape is None:
            notify = tracer.size_notice
            self._shape = tuple(
                n if extent.is_static else Size(extent, n, notify)
                for extent, n in zip(self.axes, self.array.shape, strict=True)
            )
        return self._shape

    def describe(self) -> str:
        return f"{axes_text(self.axes)} %{self.name}"

    def on_read(self, operation: str) -> None:
        tracer = self._open_tracer()
        if tracer is not None:
            tracer.refuse_read(self, operation)

    def on_write(self, operation: str, view: bool = False) -> None:
        tracer = self._open_tracer()
        if tracer is not None:
            tracer.refuse_write(self, operation, view)

    def on_refuse(self, operation: str, refusal: Any) -> None:
        tracer = self._open_tracer()
        if tracer is not None:
            tracer.refuse_or_go_on(
                tracer.exception(
                    refusal.code, operation, refusal.message, value=self, rewrites=refusal.rewrites
                )
            )

    def owns(self, tensor: Tensor) -> bool:
        return self._record is not None or tensor._array is not self.array

    def saw_birth(self, tensor: Tensor) -> bool:
        storage, tracer = tensor._storage, self._tracer()
        born = tensor._epoch if storage is None else storage.epoch
        return tracer is not None and born >= tracer.epoch

    def on_foreign(self, record: Any) -> None:
        tracer = self._open_tracer()
        if tracer is not None:
            tracer.refuse(
                "OM503",
                record.operator.name,
                f"{record.operator.name} met the traced tensor {self.describe()} on a thread "
                "that this trace does not record",
                value=self,
            )

    def on_fault(self, operation: str) -> None:
        """Whether it fails may depend on the sizes: a model that goes on has branched on them."""
        tracer = self._open_tracer()
        if tracer is not None:
            for extent, size in zip(self.axes, self.array.shape, strict=True):
                if not extent.is_static:
                    tracer.note_size(SizeEvent(extent, size, f"an error of {operation}"))

    def on_length(self) -> int:
        extent, tracer = self.axes[0], self._open_tracer()
        if not extent.is_static and tracer is not None:
            event = SizeEvent(extent, self.array.shape[0], "len()", None, self.array.shape[0])
            tracer.on_size(event)
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
