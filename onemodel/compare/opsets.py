"""Which opsets can express which operators: of one model, or of the whole library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onemodel.errors import CallSite
from onemodel.graph.ir import Graph
from onemodel.graph.schema import NEWEST_OPSET
from onemodel.symbolic.context import EmissionError
from onemodel.symbolic.registry import LOWEST_OPSET
from onemodel.tracing.lowering import lower_alone
from onemodel.tracing.model import TracedModel
from onemodel.tracing.trace import recorded
from onemodel.tracing.value import TracedValue, TraceRecord

OPSETS = range(LOWEST_OPSET, NEWEST_OPSET + 1)

# Nodes that only carry a constant or rename a value do not make an operator "decomposed".
_SILENT = {"Constant", "Identity"}


@dataclass(frozen=True)
class Coverage:
    """How one operator call is written at one opset.

    ``nodes``: node types in order, empty where it is refused. ``lowest``: the lowest opset
    that can, where a refusal knows it.
    """

    nodes: tuple[str, ...]
    refusal: str = ""
    lowest: int | None = None

    @property
    def status(self) -> str:
        """``native`` (one node), ``decomposed`` or ``refused``."""
        if self.refusal:
            return "refused"
        return "native" if len(self.nodes) <= 1 else "decomposed"

    @property
    def mark(self) -> str:
        """One short cell: ``●`` native, a count of nodes, or ``from 14``."""
        if self.refusal:
            return f"from {self.lowest}" if self.lowest else "no"
        return "●" if len(self.nodes) <= 1 else str(len(self.nodes))


@dataclass(frozen=True)
class Unconvertible:
    """An operator call of a run that cannot be written at an opset."""

    operator: str
    opset: int
    reason: str
    lowest: int | None
    site: CallSite | None

    def __str__(self) -> str:
        where = f" at {self.site.place}: {self.site.expression}" if self.site else ""
        lowest = f" (from opset {self.lowest} on)" if self.lowest else ""
        return f"{self.operator}{where}: {self.reason}{lowest}"


def coverage(record: TraceRecord, inputs: Sequence[TracedValue], opset: int) -> Coverage:
    """How ``record`` is written at ``opset``."""
    try:
        graph = lower_alone(record, inputs, opset)
    except EmissionError as error:
        return Coverage((), str(error), error.lowest)
    return Coverage(tuple(_useful(graph)))


def _useful(graph: Graph) -> Iterator[str]:
    """Types of the nodes an output needs, silent ones left out unless there is nothing else."""
    needed = {id(value) for value in graph.outputs}
    kept: list[str] = []
    for node in reversed(graph.nodes):
        if any(id(value) in needed for value in node.outputs):
            needed.update(id(value) for value in node.inputs if value is not None)
            if node.op_type not in _SILENT:
                kept.append(node.op_type)
    yield from reversed(kept)


@dataclass(frozen=True)
class OpsetTable:
    """Operator x opset. ``rows`` maps an operator (or a call) to its coverage per opset."""

    opsets: tuple[int, ...]
    rows: Mapping[str, Mapping[int, Coverage]]

    def lowest(self, row: str) -> int | None:
        """The lowest opset from which the row is written, or None."""
        return next((n for n in self.opsets if not self.rows[row][n].refusal), None)

    def to_markdown(self) -> str:
        """A table for documents: ``●`` one node, a number of nodes, or ``from N``."""
        head = "| operator | " + " | ".join(str(n) for n in self.opsets) + " |"
        rule = "|---|" + "---|" * len(self.opsets)
        lines = [head, rule]
        for name, cells in self.rows.items():
            marks = " | ".join("·" if cells[n].refusal else cells[n].mark for n in self.opsets)
            lines.append(f"| `{name}` | {marks} |")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form: per row and opset the status, the nodes and the lowest opset."""
        return {
            name: {
                str(n): {"status": c.status, "nodes": list(c.nodes), "lowest": c.lowest}
                for n, c in cells.items()
            }
            for name, cells in self.rows.items()
        }

    def __str__(self) -> str:
        width = max((len(name) for name in self.rows), default=8)
        lines = [" " * width + " " + " ".join(f"{n:>3}" for n in self.opsets)]
        for name, cells in self.rows.items():
            marks = ("·" if cells[n].refusal else cells[n].mark for n in self.opsets)
            lines.append(f"{name:<{width}} " + " ".join(f"{mark:>3}" for mark in marks))
        return "\n".join(lines)


def opset_table(
    model: TracedModel | Callable[..., Any], *examples: Any, axes: Any = None
) -> OpsetTable:
    """Every operator of a model at every opset.

    ``model`` is a traced model, or a function or module to be run on ``examples``. Where an
    operator is called several times, the row shows the call with the most nodes.
    """
    records, inputs = _recording(model, examples, axes)
    rows: dict[str, dict[int, Coverage]] = {}
    for record in records:
        cells = {n: coverage(record, inputs, n) for n in OPSETS}
        known = rows.get(record.operator.name)
        rows[record.operator.name] = cells if known is None else _worse(known, cells)
    return OpsetTable(tuple(OPSETS), dict(sorted(rows.items())))


def _worse(left: Mapping[int, Coverage], right: Mapping[int, Coverage]) -> dict[int, Coverage]:
    def weight(cell: Coverage) -> tuple[bool, int]:
        return bool(cell.refusal), len(cell.nodes)

    return {n: max(left[n], right[n], key=weight) for n in left}


def unconvertible(
    model: TracedModel | Callable[..., Any],
    *examples: Any,
    opset: int | None = None,
    axes: Any = None,
) -> list[Unconvertible] | OpsetTable:
    """Every operator call of a run that cannot be written at ``opset``, with its line.

    All of them, before any export. Without ``opset``: the table operator x opset.
    """
    if opset is None:
        return opset_table(model, *examples, axes=axes)
    if opset not in OPSETS:
        raise ValueError(f"opset {opset} is outside {OPSETS[0]} to {OPSETS[-1]}")
    records, inputs = _recording(model, examples, axes)
    found = []
    for record in records:
        cell = coverage(record, inputs, opset)
        if cell.refusal:
            name = record.operator.name
            found.append(Unconvertible(name, opset, cell.refusal, cell.lowest, record.call_site))
    return found


def _recording(
    model: Any, examples: Sequence[Any], axes: Any
) -> tuple[Sequence[TraceRecord], Sequence[TracedValue]]:
    if isinstance(model, TracedModel):
        return model.records, model.inputs
    if not callable(model):
        raise TypeError(
            f"cannot read operators from a {type(model).__name__}: give a TracedModel, or a "
            "function or module and its examples"
        )
    return recorded(model, *examples, axes=axes, opset=NEWEST_OPSET)
