"""How a refusal is put together: code, call, provenance, axes, rewrites, partial graph."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType
from typing import TYPE_CHECKING

from onemodel.axes.extent import Extent, axes_text
from onemodel.codes import CODES, Code, code_of_read, code_of_write
from onemodel.errors import AxisInvolved, CallSite, ProvenanceStep, Rewrite, TraceException
from onemodel.graph.ir import Graph
from onemodel.tracing import sites
from onemodel.tracing.branches import branch_rewrite
from onemodel.tracing.value import TracedValue, TraceRecord

if TYPE_CHECKING:
    from onemodel.tracing.tracer import Tracer

MAX_STEPS = 12
"""Longest provenance shown; longer ones lose their middle."""


def of_read(tracer: Tracer, value: TracedValue, operation: str, frame: FrameType) -> TraceException:
    """A way out of a traced tensor."""
    code = code_of_read(operation)
    message = f"{operation} reads the values of the traced {_value_text(value)}"
    error = build(tracer, code.id, operation, f"{message}: {_lower(code.why)}", frame, value=value)
    return error


def of_write(
    tracer: Tracer, value: TracedValue, operation: str, view: bool, frame: FrameType
) -> TraceException:
    """A way into a traced tensor."""
    code = code_of_write(operation, view)
    message = f"{operation} would change the traced {_value_text(value)} in place"
    return build(tracer, code.id, operation, f"{message}: {_lower(code.why)}", frame, value=value)


def _value_text(value: TracedValue) -> str:
    """``%h, float32[batch, 4]``."""
    return f"%{value.name}, {value.array.dtype}{axes_text(value.axes)}"


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def build(
    tracer: Tracer,
    code_id: str,
    operation: str,
    message: str,
    frame: FrameType | None,
    *,
    value: TracedValue | None = None,
    entry: TraceRecord | None = None,
    extents: Sequence[Extent] = (),
    rewrites: Sequence[tuple[str, str]] = (),
    site: sites.Site | None = None,
) -> TraceException:
    """A TraceException with everything that the trace knows."""
    code = CODES[code_id]
    chain = sites.user_chain(frame, tracer.stop_code)
    resolved = [sites.resolve(s) for s in reversed(chain)]
    call_chain = [s for s in resolved if s is not None]
    call_site = sites.resolve(site) if site is not None else None
    if call_site is None and call_chain:
        call_site = call_chain[-1]
    if entry is not None and tracer.scope and tracer.scope not in message:
        message = f"{message} (in {tracer.scope})"
    elif tracer.scope and code_id in ("OM601", "OM602", "OM603"):
        message = f"{message} (layer {tracer.scope})"
    if value is None and entry is not None:
        value = next((v for v in entry.inputs if isinstance(v, TracedValue)), None)
    return TraceException(
        kind=code.kind,
        code=code.id,
        operation=operation,
        message=message,
        call_site=call_site,
        call_chain=tuple(call_chain),
        provenance=tuple(provenance(value)) if value is not None else (),
        axes=tuple(_axes(tracer, value, extents)),
        suggestions=_suggestions(code, call_site, value, rewrites),
        value=value.name if value is not None else "",
        partial=partial_graph(tracer),
    )


def provenance(value: TracedValue) -> list[ProvenanceStep]:
    """The shortest way from an input to ``value``, middle cut out where it is long."""
    path = _shortest(value)
    steps = [
        ProvenanceStep(
            value=f"%{v.name}",
            operation=v.record.operator.name if v.record else "input",
            shape=axes_text(v.axes),
            dtype=str(v.array.dtype),
            site=v.record.call_site if v.record else None,
        )
        for v in path
    ]
    if len(steps) <= MAX_STEPS:
        return steps
    half = MAX_STEPS // 2
    left_out = len(steps) - 2 * half
    gap = ProvenanceStep("...", f"{left_out} more", "", "", None)
    return [*steps[:half], gap, *steps[-half:]]


def _shortest(value: TracedValue) -> list[TracedValue]:
    """Breadth first from the value back to the nearest input; input first."""
    came_from: dict[TracedValue, TracedValue | None] = {value: None}
    queue = [value]
    for current in queue:
        if current.record is None:
            path: list[TracedValue] = []
            step: TracedValue | None = current
            while step is not None:
                path.append(step)
                step = came_from[step]
            return path
        for parent in current.record.inputs:
            if isinstance(parent, TracedValue) and parent not in came_from:
                came_from[parent] = current
                queue.append(parent)
    return [value]


def _axes(
    tracer: Tracer, value: TracedValue | None, extents: Sequence[Extent]
) -> list[AxisInvolved]:
    found: list[AxisInvolved] = []
    for extent in extents:
        if extent.is_static or not extent.symbols() <= set(tracer.symbols):
            continue
        axis = None
        if value is not None and extent in value.axes:
            axis = value.axes.index(extent)
        name = value.name if value is not None and axis is not None else ""
        found.append(AxisInvolved(name, axis, str(extent), extent.evaluate(tracer.symbols)))
    return found


def _suggestions(
    code: Code,
    site: CallSite | None,
    value: TracedValue | None,
    rewrites: Sequence[tuple[str, str]],
) -> tuple[Rewrite, ...]:
    exact = [Rewrite(title, text) for title, text in rewrites]
    if not exact and site is not None and code.id == "OM101":
        exact = branch_rewrite(site, value is None or value.array.dtype.kind == "b")
    if rewrites:
        return tuple(exact)
    # An exact rewrite stands for the first general one, which says the same.
    return (*exact, *code.rewrites[1:]) if exact else code.rewrites


def partial_graph(tracer: Tracer) -> Graph:
    """The graph so far, as a graph of its own, with places on its nodes."""
    from_trace = tracer.graph
    graph = Graph(
        name="partial",
        inputs=list(from_trace.inputs),
        outputs=list(from_trace.outputs),
        nodes=list(from_trace.nodes),
        initializers=dict(from_trace.initializers),
        opsets=dict(from_trace.opsets),
        ir_version=from_trace.ir_version,
    )
    return graph
