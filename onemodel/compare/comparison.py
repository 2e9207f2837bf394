"""Runs the engines side by side and says where a difference begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onemodel.compare.classes import NOT_NUMERIC, DifferenceClass, difference
from onemodel.compare.engines import (
    ENGINES,
    Column,
    Subject,
    check_against,
    plain_feeds,
    run_column,
    subject_of,
)
from onemodel.compare.report import Report, Row, type_of
from onemodel.graph.ir import Graph, Value

DEFAULT_TOLERANCE = 1e-5


def compare(
    source: Any,
    feeds: Mapping[str, Any] | None = None,
    against: Sequence[Any] = ENGINES,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Report:
    """Compares every value of a graph between engines, from one run of each.

    Args:
        source: a ``TracedModel``, a graph, a ``ModelProto`` or the path of an ``.onnx`` file.
        feeds: arrays by input name; the example of the trace where left out.
        against: the columns. The first that runs is the reference of all others.
            ``"eager"``, ``"session"``, ``"session:passes"``, ``"session:exact"``,
            ``"onnxruntime"``, a mapping from value names to arrays, or a pair (label, mapping) or
            (label, another model). Two at least. Eager code is left out by default where the
            source is no trace.
        tolerance: largest absolute error over the reference's largest magnitude that
            still counts as equal. Integers and booleans must be equal.

    Raises:
        TypeError: for a source, feeds or an entry of ``against`` of another kind.
        ValueError: for feeds that do not fit, an unknown engine, a mapping with a name that no
            value has, a tolerance that is not above 0, or where fewer than two columns ran.
    """
    if not tolerance > 0:
        raise ValueError(f"tolerance is {tolerance}; it has to be above 0, for instance 1e-5")
    subject = subject_of(source)
    if against is ENGINES and subject.traced is None:
        # A file has no eager code; that is no failure of an engine nobody asked for.
        against = [name for name in ENGINES if name != "eager"]
    against = check_against(against, subject.graph)
    arrays = plain_feeds(subject, feeds)
    values = _compared(subject.graph)
    columns = [run_column(engine, subject, arrays, values) for engine in against]
    ran = [column for column in columns if not column.error]
    if len(ran) < 2:
        raise ValueError(_too_few(columns))
    reference, others = ran[0], ran[1:]
    return Report(
        graph=subject.graph,
        reference=reference.label,
        columns=tuple(column.label for column in others),
        rows=_rows(subject, values, reference, others, tolerance),
        failures={column.label: column.error for column in columns if column.error},
        tolerance=tolerance,
        arrays={column.label: column.values for column in ran},
        feeds=arrays,
    )


def _compared(graph: Graph) -> list[Value]:
    """Tensors made by nodes, in order; sequences and optionals have no elements to compare."""
    return [
        value
        for node in graph.nodes
        for value in node.outputs
        if value.name and (not value.type_text or value.type_text.startswith("tensor"))
    ]


def _too_few(columns: Sequence[Column]) -> str:
    told = "; ".join(f"{c.label}: {c.error}" for c in columns if c.error)
    return f"fewer than two engines gave values to compare ({told})"


def _rows(
    subject: Subject,
    values: Sequence[Value],
    reference: Column,
    others: Sequence[Column],
    tolerance: float,
) -> tuple[Row, ...]:
    columns = (reference, *others)
    tainted: dict[Value, set[str]] = {}
    broken: dict[Value, set[str]] = {}
    rows = []
    for value in values:
        node = value.producer
        judge = next((column for column in columns if value.name in column.values), None)
        if node is None or judge is None:
            # Nobody computed it (a pruned branch, or eager alone was asked): nothing to say.
            continue
        known = judge.values[value.name]
        inherited = set().union(*(tainted.get(v, ()) for v in node.inputs if v is not None))
        differences = {
            column.label: difference(known, column.values.get(value.name), tolerance)
            for column in others
        }
        beyond = {label for label, here in differences.items() if not here.within}
        missing = {
            label
            for label, here in differences.items()
            if here.kind is DifferenceClass.MISSING and label in inherited
        }
        # Where the reference has no such value, another column judges; one that differs further
        # up can acquit nobody.
        unjudged = inherited if judge.label in inherited else set()
        tainted[value] = beyond | missing | unjudged
        # NaN, infinity, dtype and shape begin anew where no operand has such a difference.
        upset = set().union(*(broken.get(v, ()) for v in node.inputs if v is not None))
        breaking = {label for label in beyond if differences[label].kind in NOT_NUMERIC}
        broken[value] = breaking | ((missing | unjudged) & upset)
        begins = (beyond - inherited) | (breaking - upset)
        rows.append(
            Row(
                value=value.name,
                type=type_of(known, value.shape),
                node=node,
                reference=judge.label,
                differences=differences,
                introduced={label: label in begins for label in differences},
            )
        )
    return tuple(rows)
