"""From records to nodes: one record through its symbolic function, or a whole recording again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from onemodel.axes.extent import Axes
from onemodel.graph.ir import Dim, Graph, Origin, Value
from onemodel.symbolic.context import EmissionError, GraphContext, Writer, iterate
from onemodel.symbolic.registry import REGISTRY, Overrides
from onemodel.tracing.value import TracedValue, TraceRecord

IR_VERSIONS = {
    7: 3, 8: 3, 9: 4, 10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9,
    20: 9, 21: 10, 22: 10, 23: 11, 24: 12, 25: 13, 26: 13, 27: 13, 28: 14,
}  # fmt: skip
"""The IR version that came with each opset."""


def new_writer(graph: Graph, opset: int, overrides: Overrides | None) -> Writer:
    """A writer into ``graph`` that knows the built-in symbolic functions.

    Raises ValueError for an override that does not fit its operator.
    """
    if overrides is not None:
        overrides.check(REGISTRY)
    return Writer(graph, REGISTRY, opset, overrides)


def lower(
    writer: Writer,
    entry: TraceRecord,
    axes: Sequence[Axes],
    dtypes: Sequence[np.dtype],
    params: Mapping[str, Value],
    resolve: Callable[[TracedValue | Value], Value] | None = None,
) -> list[Value]:
    """Write one record; its results as graph values with dtype and shape.

    Raises EmissionError where the operator cannot be written, or was written wrongly.
    """
    operator = entry.operator
    name = f"om::{operator.name}"
    found = writer.registry.find(name, writer.opset, writer.overrides)
    if found is None:
        lowest = writer.registry.lowest(name)
        if lowest is None:
            raise EmissionError("there is no symbolic function for it", fault=False)
        raise EmissionError(f"its symbolic functions begin at {lowest}", lowest, fault=False)
    known = resolve or _graph_value
    inputs = [known(v) for v in entry.inputs]
    context = GraphContext(
        writer,
        found,
        Origin(None, entry.scope, operator.name, entry.number),
        tuple(axes),
        tuple(dtypes),
        original_record=entry,
        params=params,
        scope="/" + entry.scope.replace(".", "/") if entry.scope else "",
    )
    attributes = {n: entry.attributes[n] for n in operator.attribute_names if n in entry.attributes}
    try:
        answer = found.write(context, {**operator.bind(inputs), **attributes})
    except EmissionError:
        raise
    except Exception as error:
        raise EmissionError(
            f"the symbolic function {found.label} failed: {type(error).__name__}: {error}"
        ) from error
    return _results(writer, entry, context, found.label, answer)


def _graph_value(value: TracedValue | Value) -> Value:
    return value.graph_value if isinstance(value, TracedValue) else value


def _results(
    writer: Writer,
    entry: TraceRecord,
    context: GraphContext,
    label: str,
    answer: Any,
) -> list[Value]:
    values = [answer] if isinstance(answer, Value) else list(iterate(answer))
    if len(values) < len(context.result_axes) or any(not isinstance(v, Value) for v in values):
        raise EmissionError(
            f"{label} returned {len(values)} values, the operator has {len(context.result_axes)}"
        )
    fresh = {id(v) for node in context.new_nodes for v in node.outputs}
    results: list[Value] = []
    stem = f"{entry.scope}.{entry.operator.name}" if entry.scope else entry.operator.name
    for value, axes, dtype in zip(values, context.result_axes, context.result_dtypes, strict=False):
        if value.dtype is not None and value.dtype != dtype:
            raise EmissionError(f"{label} gives {value.dtype} where eager gives {dtype}")
        if (id(value) not in fresh or value in results) and value.shape is not None:
            # The operand itself, or a constant: the result is that value.
            results.append(value)
            continue
        if id(value) in fresh:
            writer.names.discard(value.name)
            value.name = writer.unique(stem)
        value.dtype = dtype
        value.shape = tuple([_dim(e) for e in axes])
        writer.learn(value, axes)
        results.append(value)
    return results


def _dim(extent: Any) -> Dim:
    return extent if extent.atoms else extent.coefficient


def lower_alone(
    entry: TraceRecord,
    inputs: Sequence[TracedValue],
    opset: int,
    overrides: Overrides | None = None,
) -> Graph:
    """One record by itself at ``opset``: its nodes, with its operands as graph inputs.

    ``inputs`` are the inputs of the trace, from which symbolic sizes are read. Raises
    EmissionError where it cannot be written there.
    """
    graph = Graph(opsets={"": opset}, ir_version=IR_VERSIONS.get(opset, 14))
    writer = new_writer(graph, opset, overrides)
    env: dict[TracedValue | Value, Value] = {}
    for traced in [*inputs, *(v for v in entry.inputs if isinstance(v, TracedValue))]:
        if traced not in env:
            value = Value(traced.name, traced.array.dtype, tuple(_dim(e) for e in traced.axes))
            writer.names.add(value.name)
            writer.learn(value, traced.axes)
            graph.inputs.append(value)
            env[traced] = value
    for constant in entry.inputs:
        if isinstance(constant, Value) and constant not in env:
            env[constant] = value = Value(constant.name, constant.dtype, constant.shape)
            graph.initializers[value] = entry.constants[constant]
    values = lower(
        writer,
        entry,
        [v.axes for v in entry.outputs],
        [v.array.dtype for v in entry.outputs],
        {},
        resolve=env.__getitem__,
    )
    graph.outputs.extend(values)
    return graph


def relower(
    records: Sequence[TraceRecord],
    inputs: Sequence[TracedValue],
    constants: Mapping[Value, np.ndarray],
    opset: int,
    overrides: Overrides | None,
) -> tuple[Graph, dict[TracedValue | Value, Value]]:
    """Write a recording again for another opset, without running the model.

    Returns the graph (inputs and nodes, no outputs yet) and where each value went. Raises
    EmissionError with ``.record`` set to the record that could not be written.
    """
    graph = Graph(opsets={"": opset}, ir_version=IR_VERSIONS.get(opset, 14))
    writer = new_writer(graph, opset, overrides)
    env: dict[TracedValue | Value, Value] = {}
    for traced in inputs:
        value = Value(traced.name, traced.array.dtype, tuple(_dim(e) for e in traced.axes))
        writer.names.add(traced.name)
        graph.inputs.append(value)
        writer.learn(value, traced.axes)
        env[traced] = value
    for constant, array in constants.items():
        writer.names.add(constant.name)
        env[constant] = value = Value(constant.name, array.dtype, tuple(array.shape))
        graph.initializers[value] = array
    for record in records:
        try:
            values = lower(
                writer,
                record,
                [v.axes for v in record.outputs],
                [v.array.dtype for v in record.outputs],
                {},
                resolve=env.__getitem__,
            )
        except EmissionError as error:
            error.record = record  # type: ignore[attr-defined]
            raise
        env.update(zip(record.outputs, values, strict=True))
    return graph, env
