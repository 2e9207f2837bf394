"""The comparison as data: one row per value, one column per engine, told as text and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onemodel.compare.classes import Difference, DifferenceClass
from onemodel.graph.ir import Graph, Node, format_shape

SCHEMA_VERSION = 1

_TEXT_ROWS = 20


@dataclass(frozen=True)
class Row:
    """One value. ``differences`` and ``introduced`` hold an entry per compared column.

    ``reference`` is the first column that has the value; all others are judged by it.
    ``introduced`` is True where the value differs beyond the tolerance though every
    operand of its node is within it: the difference begins here. So does a NaN, an
    infinity, a dtype or a shape that no operand differs in.
    """

    value: str
    type: str
    node: Node = field(repr=False)
    reference: str
    differences: Mapping[str, Difference]
    introduced: Mapping[str, bool]

    @property
    def place(self) -> str:
        """``net.py:9`` or ``In[6]:4`` of the call the node came from, or ""."""
        site = self.node.origin.site if self.node.origin is not None else None
        return site.place if site is not None else ""

    @property
    def expression(self) -> str:
        """The call itself, or ""."""
        site = self.node.origin.site if self.node.origin is not None else None
        return site.expression if site is not None else ""

    @property
    def severity(self) -> int:
        """The worst of the row's differences; see :attr:`Difference.severity`."""
        return max((difference.severity for difference in self.differences.values()), default=0)

    @property
    def differs(self) -> bool:
        """Whether some column is beyond the tolerance."""
        return any(not difference.within for difference in self.differences.values())

    def status(self, label: str) -> str:
        """``equal``, ``close``, ``missing``, ``introduced here`` or ``inherited``, by column."""
        difference = self.differences[label]
        if difference.kind is DifferenceClass.MISSING:
            return "missing"
        if difference.kind is DifferenceClass.EQUAL:
            return "equal"
        if difference.within:
            return "close"
        return "introduced here" if self.introduced[label] else "inherited"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return {
            "value": self.value,
            "type": self.type,
            "node": self.node.name,
            "op": self.node.op_type,
            "reference": self.reference,
            "place": self.place,
            "expression": self.expression,
            "differences": {
                label: {**difference.to_dict(), "status": self.status(label)}
                for label, difference in self.differences.items()
            },
        }


@dataclass(frozen=True)
class Report:
    """Every value of a graph, engine by engine.

    Attributes:
        graph: what was compared.
        reference: label of the column all others are judged by.
        columns: labels of the other columns that ran, in the order asked for.
        rows: one per value a node makes, in the graph's own order.
        failures: label of an engine that gave no values -> why.
        tolerance: scaled error up to which a value counts as equal.
        arrays: label -> value name -> array, the reference included.
        feeds: the inputs.
    """

    graph: Graph = field(repr=False)
    reference: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False)
    failures: Mapping[str, str]
    tolerance: float
    arrays: Mapping[str, Mapping[str, Any]] = field(repr=False)
    feeds: Mapping[str, np.ndarray] = field(repr=False)

    @property
    def first_introduced(self) -> Row | None:
        """The first row in data order where a difference begins, or None."""
        return next((row for row in self.rows if any(row.introduced.values())), None)

    @property
    def agrees(self) -> bool:
        """Whether every engine ran, each was compared, and all values are within tolerance."""
        if self.failures or any(row.differs for row in self.rows):
            return False
        return not any(self._uncompared())

    def _uncompared(self) -> Iterator[str]:
        """Labels of columns of which no value at all was compared."""
        for label in self.columns:
            kinds = (row.differences[label].kind for row in self.rows if row.reference != label)
            if all(kind is DifferenceClass.MISSING for kind in kinds):
                yield label

    def first(self, label: str) -> Row | None:
        """The first row in which the column ``label`` introduces a difference."""
        return next((row for row in self.rows if row.introduced[label]), None)

    def row(self, value: str) -> Row:
        """The row of a value. Raises KeyError naming it."""
        for row in self.rows:
            if row.value == value:
                return row
        raise KeyError(f"no value named {value!r} was compared")

    def differing(self) -> Iterator[Row]:
        """Rows with some column beyond the tolerance."""
        return (row for row in self.rows if row.differs)

    def counts(self, label: str) -> dict[str, int]:
        """How many values are in each class, for one column."""
        counts: dict[str, int] = {}
        for row in self.rows:
            name = row.differences[label].kind.value
            counts[name] = counts.get(name, 0) + 1
        return counts

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form with a schema version; holds no arrays."""
        first = self.first_introduced
        return {
            "schema": SCHEMA_VERSION,
            "graph": self.graph.name,
            "reference": self.reference,
            "columns": list(self.columns),
            "failures": dict(self.failures),
            "tolerance": self.tolerance,
            "agrees": self.agrees,
            "first_introduced": first.value if first is not None else None,
            "rows": [row.to_dict() for row in self.rows],
        }

    def to_markdown(self) -> str:
        """All rows as a GitHub table, names escaped."""
        head = ["value", "operator", "type", *self.columns, "source"]
        lines = [f"| {' | '.join(_markdown(cell) for cell in head)} |", f"|{' --- |' * len(head)}"]
        for row in self.rows:
            cells = [row.value, row.node.op_type, row.type]
            for label in self.columns:
                status = row.status(label)
                mark = f" ({status})" if status in ("introduced here", "inherited") else ""
                cells.append(f"{row.differences[label]}{mark}")
            cells.append(f"{row.place} {row.expression}".strip())
            lines.append(f"| {' | '.join(_markdown(cell) for cell in cells)} |")
        return "\n".join([f"{self._summary()}", "", *lines, ""])

    def __str__(self) -> str:
        return "\n".join(self.lines())

    __repr__ = __str__

    def lines(self) -> Iterator[str]:
        """A summary, the first difference with its source, and the rows that differ."""
        yield self._summary()
        uncompared = set(self._uncompared())
        for label in self.columns:
            counted = ", ".join(f"{n} {name}" for name, n in sorted(self.counts(label).items()))
            if label in uncompared:
                counted = f"nothing was compared ({counted})" if counted else "nothing was compared"
            yield f"  {label}: {counted}"
        for label, why in self.failures.items():
            yield f"  {label}: not run, {why}"
        first = self.first_introduced
        if first is None:
            return
        yield f"first introduced by {_named(first)}"
        if first.place:
            yield f"  --> {first.place}  {first.expression}"
        differing = list(self.differing())
        for row in differing[:_TEXT_ROWS]:
            told = "; ".join(
                f"{label} {row.differences[label]} ({row.status(label)})"
                for label in self.columns
                if not row.differences[label].within
            )
            yield f"  {row.value}: {row.node.op_type} {row.type}: {told}"
        if len(differing) > _TEXT_ROWS:
            yield f"  {len(differing) - _TEXT_ROWS} more values differ"

    def _summary(self) -> str:
        total = len(self.rows)
        count = sum(1 for _ in self.differing())
        others = ", ".join(self.columns) or "nothing"
        uncompared = list(self._uncompared())
        verdict = "all agree"
        if count:
            verdict = f"{count} differ"
        elif len(uncompared) == len(self.columns):
            verdict = "nothing was compared"
        elif uncompared:
            verdict = f"nothing was compared for {', '.join(uncompared)}, the others agree"
        elif self.failures:
            verdict = f"those that ran agree, {', '.join(self.failures)} did not run"
        return (
            f"{total} values of {self.graph.name}, {self.reference} against {others}: {verdict} "
            f"at {self.tolerance:g} scaled"
        )


def _named(row: Row) -> str:
    name = row.node.name or row.value
    return f"{row.node.op_type} {name} ({row.value})"


def _markdown(text: str) -> str:
    for character, code in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        text = text.replace(character, code)
    return " ".join(text.split())


def type_of(reference: Any, shape: Any) -> str:
    """``float32[2, 3]`` of an array, or the graph's own shape where there is none."""
    if isinstance(reference, np.ndarray):
        return f"{reference.dtype}{list(reference.shape)}"
    return format_shape(shape)
