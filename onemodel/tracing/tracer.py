"""Tracer: a recorded eager run, written as a graph while it goes.

It listens to the seam of the tensor layer. One map leads from a traced tensor (its mark) to its
record, its source frame, its eager array and its axes; every consumer reads that map.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from onemodel.autograd.grad_mode import is_grad_enabled
from onemodel.axes.extent import Axes, AxesError, Extent, evaluate_axes, static_axes
from onemodel.axes.size import Size, SizeEvent
from onemodel.errors import TraceException
from onemodel.graph.ir import Graph, Value
from onemodel.graph.schema import NEWEST_OPSET
from onemodel.operators import TABLE
from onemodel.symbolic.context import EmissionError
from onemodel.symbolic.registry import LOWEST_OPSET, REGISTRY, Overrides, fill
from onemodel.tensors import seam
from onemodel.tensors.tensor import Tensor, as_array
from onemodel.tracing import refusal, sites
from onemodel.tracing.constants import Constants
from onemodel.tracing.declaring import AxisNames, declare_axes
from onemodel.tracing.distant import hints
from onemodel.tracing.finishing import complete
from onemodel.tracing.lowering import IR_VERSIONS, lower, new_writer
from onemodel.tracing.model import TracedModel
from onemodel.tracing.swallowed import attach, name_catcher
from onemodel.tracing.value import SizeNotice, Specialisation, TracedValue, TraceRecord

if not REGISTRY.names():
    fill(REGISTRY, TABLE)


class Tracer:
    """A recording on the calling thread, from :meth:`begin` to :meth:`finish`.

    ::

        with om.Tracer.begin() as tracer:
            x = tracer.input("x", example, {0: "batch"})
            y = model(x)
            traced = tracer.finish({"y": y})

    Everything that a graph could not follow raises :class:`TraceException` at the call.
    """

    def __init__(
        self, opset: int, strict_sizes: bool, overrides: Overrides | None, stop_code: Any
    ) -> None:
        self.opset = opset
        self.strict_sizes = strict_sizes
        self.finished = False
        self.collecting = False
        self.graph = Graph(opsets={"": opset}, ir_version=IR_VERSIONS.get(opset, 14))
        self.writer = new_writer(self.graph, opset, overrides)
        self.symbols: dict[str, int] = {}
        self.records: list[TraceRecord] = []
        self.inputs: list[TracedValue] = []
        self.refusals: list[TraceException] = []
        self.constants = Constants(self.writer)
        self.size_notice = SizeNotice(self)
        self.thread = threading.get_ident()
        self.begin_site = sites.current_site(3)
        self._stop_code = stop_code
        self._specialisations: dict[Any, Specialisation] = {}
        self._scope = ""
        self._module_names: dict[int, str] = {}

    # --- life -----------------------------------------------------------------------------

    @classmethod
    def begin(
        cls,
        opset: int = 20,
        *,
        strict_sizes: bool = False,
        overrides: Overrides | None = None,
    ) -> Tracer:
        """Activate a recording on this thread.

        ``strict_sizes`` makes every consumption of a symbolic size as a fixed number an error.
        Raises TraceException (INVALID_USAGE) inside another trace or for an opset outside 7 to
        the newest of the installed ``onnx``; NO_GRAD_IN_TRACE inside ``no_grad``.
        """
        return cls._begin(opset, strict_sizes, overrides, None)

    @classmethod
    def _begin(
        cls, opset: int, strict_sizes: bool, overrides: Overrides | None, stop_code: Any
    ) -> Tracer:
        tracer = cls(opset, strict_sizes, overrides, stop_code)
        active = seam.listener()
        if isinstance(active, Tracer):
            where = sites.resolve(active.begin_site)
            begun = f", begun at {where.place}" if where else ""
            raise active.exception(
                "OM501", "Tracer.begin()", f"a trace is already recording on this thread{begun}"
            )
        if isinstance(opset, bool) or not isinstance(opset, int):
            raise tracer.exception(
                "OM510", "Tracer.begin()", f"opset must be an integer, not {type(opset).__name__}"
            )
        if not LOWEST_OPSET <= opset <= NEWEST_OPSET:
            raise tracer.exception(
                "OM510",
                "Tracer.begin()",
                f"opset {opset} is outside the supported {LOWEST_OPSET} to {NEWEST_OPSET}",
            )
        if not is_grad_enabled():
            raise tracer.exception(
                "OM302", "Tracer.begin()", "a trace cannot begin inside no_grad()"
            )
        seam.next_epoch()
        tracer.epoch = seam.epoch()
        seam.install(tracer)
        return tracer

    epoch: int = 0

    @staticmethod
    def reset() -> None:
        """Abandon whatever trace is active on this thread (after an interrupted cell)."""
        active = seam.listener()
        if isinstance(active, Tracer):
            active.close()

    @staticmethod
    def active() -> Tracer | None:
        """The trace recording on this thread, if any."""
        active = seam.listener()
        return active if isinstance(active, Tracer) else None

    def close(self) -> None:
        """Stop recording without a result."""
        self.finished = True
        # The traceback of what was raised leads back here: it belongs to whoever catches it.
        self.refusals = [error for error in self.refusals if error.__traceback__ is None]
        if seam.listener() is self:
            seam.install(None)

    def __enter__(self) -> Tracer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and self.refusals:
            attach(error, self.refusals[0])
        self.close()

    # --- declarations ---------------------------------------------------------------------

    def input(self, name: str, example: Any, axes: AxisNames = None) -> Tensor:
        """Declare a graph input and return the traced tensor that stands for it.

        ``example``: tensor, array or nested numbers; ``axes``: names of symbolic axes, as
        {axis: name} or a sequence with None for fixed ones; ``"4*rows"`` declares a multiple.
        Raises INVALID_USAGE for a name used twice, a symbol whose example size is below 2 or
        equals another's, a size that is not the multiple declared.
        """
        self._check_open("input()")
        self._claim(name, "an input")
        if isinstance(example, Tensor) and example._mark is not None:
            raise self.exception("OM508", "input()", f"the example for {name!r} is itself traced")
        array = self._example(name, example)
        extents = declare_axes(self, name, array, axes)
        value = Value(name, array.dtype, tuple(_dim(e) for e in extents))
        self.writer.names.add(name)
        self.graph.inputs.append(value)
        self.writer.learn(value, extents)
        traced = TracedValue(self, value, extents, array)
        self.inputs.append(traced)
        tensor = Tensor(array)
        tensor._mark = traced
        tensor._tracked = True
        return tensor

    def parameter(self, name: str, tensor: Tensor) -> Tensor:
        """Give a weight the name it shall have in the graph, and return it."""
        self._check_open("parameter()")
        self._claim(name, "a parameter")
        if not isinstance(tensor, Tensor):
            raise self.exception(
                "OM511", "parameter()", f"{name!r} is a {type(tensor).__name__}, not a tensor"
            )
        self.constants.name(name, tensor)
        return tensor

    def _check_open(self, operation: str) -> None:
        if self.finished:
            raise self.exception("OM509", operation, f"{operation} on a finished trace")

    def _claim(self, name: str, what: str) -> None:
        if not isinstance(name, str) or not name:
            raise self.exception("OM507", "name", f"{what} needs a name, not {name!r}")
        taken = {v.name for v in self.inputs} | set(self.constants.names())
        if name in taken or name in self.writer.names:
            raise self.exception("OM507", "name", f"the name {name!r} of {what} is taken")

    def _example(self, name: str, example: Any) -> np.ndarray:
        try:
            return as_array(example)
        except (TypeError, ValueError) as error:
            raise self.exception(
                "OM511", "input()", f"the example for {name!r} is no tensor: {error}"
            ) from error

    # --- modules --------------------------------------------------------------------------

    def name_modules(self, names: Mapping[int, str]) -> None:
        """Paths of modules by identity, for node names and messages."""
        self._module_names.update(names)

    @contextmanager
    def module(self, module: Any) -> Iterator[None]:
        """Everything recorded inside belongs to ``module``."""
        before = self._scope
        known = self._module_names.get(id(module))
        if known is None:
            own = type(module).__name__
            known = f"{before}.{own}" if before else own
        self._scope = known
        try:
            yield
        finally:
            self._scope = before

    @property
    def scope(self) -> str:
        """Path of the module that runs now."""
        return self._scope

    # --- the seam -------------------------------------------------------------------------

    def on_record(self, record: Any, results: Sequence[Tensor]) -> None:
        """An operator ran on a traced tensor or on symbolic sizes: write it."""
        try:
            self._record(record, results)
        except TraceException as error:
            # While collecting, the result stays the example's and the run goes on.
            if not self.collecting:
                raise
            # Nobody catches it, and the frames it went through hold this trace.
            error.__traceback__ = error.__context__ = None

    def _record(self, record: Any, results: Sequence[Tensor]) -> None:
        operator = record.operator
        inputs = tuple([self._operand(t, operator.name) for t in record.inputs])
        attributes = {k: self._with_extents(v) for k, v in record.attributes.items()}
        in_axes = tuple(
            [
                v.axes if isinstance(v, TracedValue) else static_axes(t._array.shape)
                for v, t in zip(inputs, record.inputs, strict=True)
            ]
        )
        entry = TraceRecord(
            len(self.records),
            operator,
            inputs,
            attributes,
            sites.current_site(3),
            self._scope,
            self.constants.arrays,
        )
        out_axes = self._infer(entry, in_axes, results)
        if operator.alias is not None and len(results) == 1:
            source = inputs[0]
            same = operator.alias(attributes, in_axes, out_axes[0])
            if same and isinstance(source, TracedValue):
                results[0]._mark = source
                results[0]._tracked = True
                return
        self._write(entry, out_axes, results)

    def _operand(self, tensor: Tensor, operation: str) -> TracedValue | Value:
        mark = tensor._mark
        if mark is None:
            try:
                return self.constants.capture(tensor, self._scope)
            except OverflowError as error:
                raise self.refuse("OM605", operation, str(error)) from None
        if not isinstance(mark, TracedValue) or mark.tracer is not self:
            raise self.refuse(
                "OM502",
                operation,
                f"{operation} met a tensor {mark.describe()} of another trace",
            )
        return mark

    def _infer(
        self, entry: TraceRecord, in_axes: tuple[Axes, ...], results: Sequence[Tensor]
    ) -> tuple[Axes, ...]:
        operator = entry.operator
        if operator.axes is None:
            raise self.refuse(
                "OM609", operator.name, f"{operator.name} cannot be traced", entry=entry
            )
        extra: dict[str, Any] = {}
        if operator.axes_need_assignment:
            extra["assignment"] = self.symbols
        if operator.axes_note_assumptions:
            extra["note"] = self._assumed
        try:
            found = operator.axes(*in_axes, **entry.attributes, **extra)
        except AxesError as error:
            raise self.refuse(
                error.code,
                operator.name,
                f"{operator.name}: {error.message}",
                entry=entry,
                extents=error.extents,
                rewrites=error.rewrites,
            ) from None
        several = found and not isinstance(found[0], Extent)
        axes = tuple(tuple(a) for a in found) if several else (tuple(found),)
        if not found and len(results) != 1:
            axes = ()
        for one, result in zip(axes, results, strict=True):
            size = evaluate_axes(one, self.symbols)
            if size != result._array.shape:
                raise self.refuse(
                    "OM401",
                    operator.name,
                    f"{operator.name} gives shape {list(result._array.shape)}, but its sizes as "
                    f"they are recorded say {list(size)}",
                    entry=entry,
                )
        return axes

    def _with_extents(self, value: Any) -> Any:
        """Sizes in nested attributes as extents; a size of another trace is refused."""
        kind = type(value)
        if kind is tuple or kind is list:
            return kind(self._with_extents(item) for item in value)
        if kind is not Size:
            return value
        if value.notify is not self.size_notice:
            raise self.refuse("OM502", "size", f"the size {value!r} was read in another trace")
        return value.extent

    def _write(
        self, entry: TraceRecord, out_axes: tuple[Axes, ...], results: Sequence[Tensor]
    ) -> None:
        before = len(self.graph.nodes)
        dtypes = tuple([t._array.dtype for t in results])
        try:
            values = lower(self.writer, entry, out_axes, dtypes, self.constants.by_name())
        except EmissionError as error:
            del self.graph.nodes[before:]
            failure = self.refuse_emission(entry, error)
            if not self.collecting:
                try:
                    raise failure from error
                finally:
                    del failure  # a frame of its own traceback must not hold it
            # Nothing is handed out, so a value without a producer stands for the result.
            values = [self._stand_in(entry, a, d) for a, d in zip(out_axes, dtypes, strict=True)]
        self.records.append(entry)
        outputs = []
        for position, (value, axes, tensor) in enumerate(
            zip(values, out_axes, results, strict=True)
        ):
            traced = TracedValue(self, value, axes, tensor._array, entry, position)
            tensor._mark = traced
            tensor._tracked = True
            outputs.append(traced)
        entry.outputs = tuple(outputs)

    def refuse_emission(self, entry: TraceRecord, error: EmissionError) -> TraceException:
        name = entry.operator.name
        if error.fault:
            message = f"{name}: {error}"
            return self._remember(self.exception("OM608", name, message, entry=entry))
        lowest = f"; opset {error.lowest} can" if error.lowest else ""
        message = f"{name} cannot be written at opset {self.opset}: {error}{lowest}"
        rewrites = ()
        if error.lowest:
            rewrites = (("take a newer opset", f"om.trace(..., opset={error.lowest})"),)
        return self._remember(
            self.exception("OM600", name, message, entry=entry, rewrites=rewrites)
        )

    def _stand_in(self, entry: TraceRecord, axes: Axes, dtype: np.dtype) -> Value:
        value = Value(self.writer.unique(entry.operator.name), dtype, tuple(_dim(e) for e in axes))
        self.writer.learn(value, axes)
        return value

    def on_write(self, tensor: Tensor, operation: str) -> None:
        """Something is written while the trace records; marked tensors refused it already."""
        self.constants.note_write(tensor, operation, sites.current_site(2), self.epoch)

    def on_random(self, operation: str) -> None:
        self.refuse_or_go_on(
            self.exception("OM603", operation, f"{operation} draws random numbers inside a trace")
        )

    def on_no_grad(self) -> None:
        self.refuse_or_go_on(
            self.exception("OM301", "no_grad()", "no_grad() was entered while a trace records")
        )

    def on_layout(self, tensor: Tensor) -> None:
        """The elements of a blocked tensor are about to become part of the graph."""
        message = f"a tensor in blocked layout {tensor.layout} would be a constant of the graph"
        error = self.exception("OM606", f"layout {tensor.layout}", message)
        if self.collecting and self.refusals and self.refusals[-1].call_site == error.call_site:
            return  # while collecting: one operator asks for the elements more than once
        try:
            self.refuse_or_go_on(error)
        finally:
            del error

    def note_size(self, event: SizeEvent) -> None:
        """Remember what a size was consumed for, and where."""
        site = sites.current_site(2)
        key = (site, event.operation, event.extent, event.other)
        if key not in self._specialisations:
            around = hints(sys._getframe(1), self._stop_code) if event.other is None else ()
            self._specialisations[key] = Specialisation(
                event.extent,
                event.operation,
                event.value,
                event.outcome,
                event.other,
                sites.resolve(site),
                around,
            )

    def on_size(self, event: SizeEvent) -> None:
        """A symbolic size was consumed as a fixed number."""
        if self.finished:
            return
        self.note_size(event)
        if self.strict_sizes and event.operation != "__str__":
            code = "OM405" if event.other is not None else "OM401"
            self.refuse_or_go_on(
                self.exception(
                    code,
                    event.operation,
                    f"the symbolic size {event.extent} was used as the fixed number "
                    f"{event.value} ({event.operation}) and strict_sizes is on",
                    extents=(event.extent,),
                )
            )

    def _assumed(self, extent: Extent, number: int) -> None:
        """An axis rule took a plain number for a symbolic size."""
        self.on_size(SizeEvent(extent, number, "plain number", None, number))

    @property
    def specialisations(self) -> list[Specialisation]:
        """Sizes that were consumed as fixed numbers, in the order they were."""
        return list(self._specialisations.values())

    # --- refusals -------------------------------------------------------------------------

    def refuse_read(self, value: TracedValue, operation: str) -> None:
        self.refuse_or_go_on(refusal.of_read(self, value, operation, sys._getframe(2)))

    def refuse_write(self, value: TracedValue, operation: str, view: bool) -> None:
        self.refuse_or_go_on(refusal.of_write(self, value, operation, view, sys._getframe(2)))

    def refuse(
        self,
        code: str,
        operation: str,
        message: str,
        *,
        value: TracedValue | None = None,
        entry: TraceRecord | None = None,
        extents: Sequence[Extent] = (),
        rewrites: Sequence[tuple[str, str]] = (),
        site: sites.Site | None = None,
    ) -> TraceException:
        """Make a refusal, remember it (a trace that refused never finishes) and raise it."""
        raise self._remember(
            self.exception(
                code,
                operation,
                message,
                value=value,
                entry=entry,
                extents=extents,
                rewrites=rewrites,
                site=site,
            )
        )

    def exception(
        self,
        code: str,
        operation: str,
        message: str,
        *,
        value: TracedValue | None = None,
        entry: TraceRecord | None = None,
        extents: Sequence[Extent] = (),
        rewrites: Sequence[tuple[str, str]] = (),
        site: sites.Site | None = None,
    ) -> TraceException:
        """A refusal as an object: declarations raise it without poisoning the trace."""
        return refusal.build(
            self,
            code,
            operation,
            message,
            frame=sys._getframe(1),
            value=value,
            entry=entry,
            extents=extents,
            rewrites=rewrites,
            site=site,
        )

    def refuse_or_go_on(self, error: TraceException) -> None:
        """Raise ``error``; while collecting, remember it and let the run go on."""
        self._remember(error)
        if not self.collecting:
            try:
                raise error
            finally:
                del error  # a frame of its own traceback must not hold it

    def _remember(self, error: TraceException) -> TraceException:
        self.refusals.append(error)
        return error

    @contextmanager
    def collect(self) -> Iterator[list[TraceException]]:
        """Go on after each refusal with the example's value; the list of them all.

        ::

            with tracer.collect() as refusals:
                model(x)

        A trace that refused anything never hands out a graph.
        """
        before, self.collecting = self.collecting, True
        try:
            yield self.refusals
        finally:
            self.collecting = before

    @property
    def stop_code(self) -> Any:
        """Code object of the frame outside of which nothing belongs to the model."""
        return self._stop_code

    # --- the end --------------------------------------------------------------------------

    def finish(self, outputs: Mapping[str, Tensor]) -> TracedModel:
        """The graph of ``outputs`` (by the names they shall have), checked and pruned.

        Raises the first refusal of the run again, if one was swallowed; INVALID_USAGE for an
        output that is no traced tensor of this trace or depends on no input, and for names
        used twice; IN_PLACE_MUTATION where a captured constant changed since.
        """
        self._check_open("finish()")
        self.raise_swallowed()
        return complete(self, outputs)

    def raise_swallowed(self) -> None:
        """Raise the first refusal of the run again: the model caught it, the trace does not."""
        if self.refusals:
            raise name_catcher(self._first_refusal())

    def _first_refusal(self) -> TraceException:
        first = self.refusals[0]
        self.close()
        return first


def _dim(extent: Extent) -> int | Extent:
    return extent.value if extent.is_static else extent
