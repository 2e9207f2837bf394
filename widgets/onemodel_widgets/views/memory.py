"""How many bytes the values of a graph take at given sizes of its symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onemodel.axes.extent import AxesError, Extent
from onemodel.graph.ir import Graph, Value


@dataclass(frozen=True)
class Memory:
    """Bytes of a graph at one choice of sizes.

    Attributes:
        constants: weights and other stored tensors.
        values: everything that a run computes, were nothing ever freed.
        peak: the most that inputs and computed values hold at once, where each is freed after
            its last reader. A session may use less: it also writes results over operands.
        unknown: how many values have no known size; they count as nothing above.
        known: how many values have one.
    """

    constants: int
    values: int
    peak: int
    unknown: int
    known: int

    def __str__(self) -> str:
        constants = f"constants {bytes_text(self.constants)}"
        if self.unknown and not self.known:
            if self.unknown == 1:
                return f"{constants}, the size of the only value is unknown"
            return f"{constants}, the sizes of all {self.unknown} values are unknown"
        parts = [
            constants,
            f"values {bytes_text(self.values)}",
            f"at most {bytes_text(self.peak)} of them at once",
        ]
        if self.unknown:
            parts.append(f"{self.unknown} of unknown size left out")
        return ", ".join(parts)


def memory_of(graph: Graph, sizes: Mapping[str, int]) -> Memory:
    """Adds up the graph; bodies of control flow count with their own results only."""
    constants = sum(array.nbytes for array in graph.initializers.values())
    last = {value: index for index, node in enumerate(graph.nodes) for value in node.inputs}
    forever = set(graph.outputs)
    size: dict[Value, int] = {}
    unknown = 0

    def born(value: Value) -> None:
        nonlocal unknown
        known = value_bytes(value, sizes)
        unknown += known is None
        size[value] = known or 0

    for value in graph.inputs:
        if value not in graph.initializers:
            born(value)
    held = peak = sum(size.values())
    computed = 0
    for index, node in enumerate(graph.nodes):
        for value in node.outputs:
            born(value)
            held += size[value]
            computed += size[value]
        peak = max(peak, held)
        for value in {*node.inputs, *node.outputs}:
            if value in size and value not in forever and last.get(value, index) == index:
                held -= size[value]
    return Memory(constants, computed, peak, unknown, len(size) - unknown)


def value_bytes(value: Value, sizes: Mapping[str, int]) -> int | None:
    """Bytes of one value, or None where its dtype or a size is not known."""
    if value.dtype is None or value.shape is None or value.dtype.kind in "OUST":
        return None
    total = value.dtype.itemsize
    for dim in value.shape:
        try:
            known = dim.evaluate(sizes) if isinstance(dim, Extent) else dim
        except (AxesError, ZeroDivisionError):
            known = None
        if known is None:
            return None
        total *= int(known)
    return total


def bytes_text(count: int) -> str:
    """``640 B``, ``12.3 KiB``, ``1.5 GiB``."""
    amount, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{count} B" if unit == "B" else f"{amount:.4g} {unit}"
