"""TracedModel: what a finished trace is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from onemodel.axes.extent import Extent
from onemodel.format.writer import save as save_format
from onemodel.graph.ir import Graph, Value, format_shape
from onemodel.graph.schema import NEWEST_OPSET
from onemodel.onnx_io.writer import save as save_graph
from onemodel.onnx_io.writer import to_bytes as graph_to_bytes
from onemodel.onnx_io.writer import to_model_proto
from onemodel.symbolic.context import EmissionError
from onemodel.symbolic.registry import LOWEST_OPSET, Overrides
from onemodel.tracing import lowering
from onemodel.tracing.outputs import bind_outputs, prune, set_origins
from onemodel.tracing.value import Specialisation, TracedValue, TraceRecord


class Values(Mapping[str, np.ndarray]):
    """Value name -> the example run's array, for every recorded value, inputs first."""

    def __init__(self, traced: Sequence[TracedValue]) -> None:
        self._arrays = {value.name: value.array for value in traced}

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)


@dataclass(eq=False)
class TracedModel:
    """A recorded run as a graph, with everything that is known of it.

    Attributes:
        graph: the graph for ``opset``.
        records: the operator calls that the outputs need, in order.
        constants: captured tensors, also those that only another opset's graph needs.
        numbers: Python numbers that were rounded to become constants, as they were.
        table_bounds: sizes that fixed axes were sliced by, and how far those axes reach.
        inputs, outputs: traced values.
        symbols: declared symbol -> its size in the example.
        specialisations: sizes that were consumed as fixed numbers, with their lines.
        verification: what repeating the run has shown (see ``om.trace``), as text.

    Weights are a snapshot of the moment they were first used.
    """

    graph: Graph
    records: list[TraceRecord]
    constants: dict[Value, np.ndarray] = field(repr=False)
    inputs: tuple[TracedValue, ...]
    outputs: dict[str, TracedValue]
    symbols: dict[str, int]
    specialisations: list[Specialisation]
    opset: int
    overrides: Overrides | None = None
    numbers: Mapping[Any, float] = field(default_factory=dict, repr=False)
    table_bounds: Sequence[tuple[Extent, int]] = ()
    verification: str = "not verified: a low-level trace has no function to repeat"
    rerun: Callable[[Mapping[str, np.ndarray]], TracedModel] | None = field(
        default=None, repr=False
    )

    @property
    def values(self) -> Values:
        """Every recorded value's array in the example run, by graph value name."""
        recorded = [v for record in self.records for v in record.outputs]
        return Values([*self.inputs, *recorded])

    def named_values(self) -> dict[str, np.ndarray]:
        """Arrays of the example run for the values that are left in the graph."""
        known = {id(v) for v in self.graph.values()}
        found = {v.name: v.array for v in self.inputs}
        for record in self.records:
            for value in record.outputs:
                if id(value.graph_value) in known:
                    found[value.name] = value.array
        for value in self.graph.outputs:
            if value.name not in found:
                found[value.name] = self.outputs[value.name].array
        return found

    def eager_values(self, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Every value of an eager run on other inputs, by the names of this graph.

        Raises ValueError where there is no function to run (a low-level trace), unless the
        feeds are the example's.
        """
        example = {v.name: v.array for v in self.inputs}
        if feeds.keys() == example.keys() and all(
            np.array_equal(feeds[name], example[name], equal_nan=feeds[name].dtype.kind == "f")
            for name in example
        ):
            return self.named_values()
        if self.rerun is None:
            raise ValueError("a low-level trace has no function to run on other inputs")
        other = self.rerun(feeds)
        return other.named_values()

    # --- out ------------------------------------------------------------------------------

    def graph_for(self, opset: int | None = None, overrides: Overrides | None = None) -> Graph:
        """The graph for ``opset``: the recorded one, or the recording written again.

        Raises ValueError for an opset outside the supported range, EmissionError naming the
        operator, its line and the lowest opset that works where one cannot be written.
        """
        if opset is None or (opset == self.opset and overrides is None):
            return self.graph
        if not LOWEST_OPSET <= opset <= NEWEST_OPSET:
            raise ValueError(f"opset {opset} is outside {LOWEST_OPSET} to {NEWEST_OPSET}")
        return relowered(self, opset, overrides or self.overrides)

    def to_onnx(
        self,
        opset: int | None = None,
        *,
        strip_metadata: bool = False,
        overrides: Overrides | None = None,
    ) -> onnx.ModelProto:
        """The model as a ``ModelProto``, for this or another opset, without running it again."""
        return to_model_proto(self.graph_for(opset, overrides), strip_metadata=strip_metadata)

    def to_bytes(self, opset: int | None = None, *, strip_metadata: bool = False) -> bytes:
        """The model as the bytes of an .onnx file. Equal graphs give equal bytes."""
        return graph_to_bytes(self.graph_for(opset), strip_metadata=strip_metadata)

    def save_onnx(
        self,
        path: str | Path,
        opset: int | None = None,
        *,
        strip_metadata: bool = False,
    ) -> None:
        """Write an .onnx file, atomically; weights beside it where they exceed 2 GiB."""
        save_graph(self.graph_for(opset), path, strip_metadata=strip_metadata)

    def save(self, path: str | Path) -> None:
        """Write the recorded graph in the library's own format (``.om``), atomically."""
        save_format(self.graph, path)

    # --- text -----------------------------------------------------------------------------

    def __repr__(self) -> str:
        ins = ", ".join(f"{v.name} {v.dtype}{format_shape(v.shape)}" for v in self.graph.inputs)
        outs = ", ".join(f"{v.name} {v.dtype}{format_shape(v.shape)}" for v in self.graph.outputs)
        return f"TracedModel({ins} -> {outs}; {len(self.graph.nodes)} nodes, opset {self.opset})"


def relowered(model: TracedModel, opset: int, overrides: Overrides | None) -> Graph:
    """The recording of ``model`` written for another opset."""
    needed = {v for r in model.records for v in r.inputs if isinstance(v, Value)}
    constants = {v: a for v, a in model.constants.items() if v in needed}
    try:
        graph, env = lowering.relower(model.records, model.inputs, constants, opset, overrides)
    except EmissionError as error:
        record = getattr(error, "record", None)
        if record is None:
            raise
        site = record.call_site
        where = f" at {site.place}: {site.expression}" if site else ""
        lowest = f"; the lowest opset that can is {error.lowest}" if error.lowest else ""
        raise EmissionError(
            f"{record.operator.name}{where} cannot be written at opset {opset}: {error}{lowest}",
            error.lowest,
            error.fault,
        ) from error
    graph.name = model.graph.name
    names = {v.name for v in graph.values()} | {node.name for node in graph.nodes}
    bind_outputs(graph, [(name, env[value]) for name, value in model.outputs.items()], names)
    prune(graph)
    set_origins(graph, model.records)
    return graph
