"""The end of a trace: outputs checked, constants checked, the rest pruned, names given."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from onemodel.axes.extent import Extent, as_extent
from onemodel.tensors.tensor import Tensor
from onemodel.tracing import sites
from onemodel.tracing.model import TracedModel
from onemodel.tracing.outputs import bind_outputs, kept_records, prune, set_origins
from onemodel.tracing.value import TracedValue, TraceRecord

if TYPE_CHECKING:
    from onemodel.tracing.tracer import Tracer


class UnusedOverrideWarning(UserWarning):
    """A symbolic function of the user's that a trace did not come to."""


def complete(tracer: Tracer, outputs: Mapping[str, Tensor]) -> TracedModel:
    """Check and close ``tracer``; the traced model of ``outputs``."""
    marks = [(name, _output(tracer, name, tensor)) for name, tensor in outputs.items()]
    if not marks:
        raise tracer.exception("OM504", "finish()", "no output was named")
    _check_constants(tracer)
    tracer.close()
    graph = tracer.graph
    bind_outputs(graph, [(name, mark.graph_value) for name, mark in marks], tracer.writer.names)
    prune(graph)
    kept = kept_records(graph, tracer.records)
    set_origins(graph, tracer.records)
    overrides = tracer.writer.overrides
    for sentence in overrides.unused(tracer.opset) if overrides is not None else ():
        warnings.warn(sentence, UnusedOverrideWarning, stacklevel=2)
    return TracedModel(
        graph=graph,
        records=kept,
        constants=tracer.constants.arrays,
        numbers=tracer.constants.numbers(),
        table_bounds=tuple(dict.fromkeys(_table_bounds(tracer.records))),
        inputs=tuple(tracer.inputs),
        outputs=dict(marks),
        symbols=dict(tracer.symbols),
        specialisations=tracer.specialisations,
        opset=tracer.opset,
        overrides=tracer.writer.overrides,
    )


def _output(tracer: Tracer, name: str, tensor: Any) -> TracedValue:
    if not isinstance(name, str) or not name:
        raise tracer.exception("OM507", "finish()", f"an output needs a name, not {name!r}")
    if any(name == value.name for value in tracer.inputs):
        raise tracer.exception("OM507", "finish()", f"the output name {name!r} is an input's")
    if name in set(tracer.constants.names()):
        raise tracer.exception("OM507", "finish()", f"the output name {name!r} is a parameter's")
    if not isinstance(tensor, Tensor):
        kind = type(tensor).__name__
        raise tracer.exception("OM511", "finish()", f"output {name!r} is a {kind}, not a tensor")
    mark = tensor._mark
    if mark is None:
        raise tracer.exception(
            "OM504",
            "finish()",
            f"output {name!r} (shape {list(tensor._array.shape)}) does not depend on an input",
        )
    if not isinstance(mark, TracedValue) or mark.tracer is not tracer:
        raise tracer.exception("OM502", "finish()", f"output {name!r} belongs to another trace")
    return mark


def _table_bounds(records: Sequence[TraceRecord]) -> Iterator[tuple[Extent, int]]:
    """Sizes that fixed axes were sliced by, and how far those reach."""
    for record in records:
        if record.operator.name != "getitem":
            continue
        source = record.inputs[0]
        axes = source.axes if isinstance(source, TracedValue) else source.shape or ()
        entries = [entry for entry in record.attributes["index"] if entry is not None]
        for entry, size in zip(entries, map(as_extent, axes), strict=False):
            for bound in entry[:2] if isinstance(entry, tuple) and size.is_static else ():
                if isinstance(bound, Extent) and not bound.is_static:
                    yield bound, size.value


def _check_constants(tracer: Tracer) -> None:
    for change in tracer.constants.changes():
        captured, write = change.captured, change.write
        first = sites.resolve(captured.site)
        second = sites.resolve(write.site) if write is not None else None
        used = f", captured at {first.place}" if first else ""
        how = f"{write.operation} at {second.place}" if write and second else "in memory"
        tracer.refuse(
            "OM203",
            write.operation if write is not None else "write",
            f"the constant {captured.value.name!r} (shape {list(captured.kept.shape)}){used}, "
            f"was changed during the trace by {how}",
            site=write.site if write is not None else captured.site,
        )
