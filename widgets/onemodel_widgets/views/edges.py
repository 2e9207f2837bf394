"""Which edges are drawn as lines: bundles of parallel ones, and chips for what lies far away.

An engine's time goes into long edges and a reader's into many. However dense a graph is, a
box keeps at most ``MOST_INTO`` lines; all the rest is one chip beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from onemodel_widgets.views.names import shorten
from onemodel_widgets.views.parts import Box, Edge

MOST_PARALLEL = 4
"""More values than this from one box to one other are drawn as one line."""

MOST_INTO = 24
MOST_FAR_INTO = 8
NEAR = 4
"""Lines into one box: so many, and so many where they are longer than ``NEAR`` ranks; beyond,
the nearest stay and one chip stands for the rest."""

MOST_CHIPS = 3
"""Chips beside one box; more are drawn as one."""

_CUTS = ((4, 12), (8, 4))
"""(fan-out, span in ranks): a value with that many readers is cut on edges longer than that."""

_LISTED = 12


def drawn_edges(
    boxes: Sequence[Box], edges: Sequence[Edge], positions: Mapping[str, int]
) -> tuple[list[Edge], list[Box]]:
    """The edges to draw, and the reference chips that some of them start from.

    ``positions`` orders the boxes as the graph orders its nodes.
    """
    edges = _bundled(edges)
    ranks = _ranks(boxes, edges, positions)
    by_id = {box.id: box for box in boxes}
    targets: dict[str, set[str]] = {}
    into: dict[str, list[Edge]] = {}
    for edge in edges:
        targets.setdefault(edge.value, set()).add(edge.target)
        into.setdefault(edge.target, []).append(edge)
    far: dict[str, list[Edge]] = {}
    is_far: set[int] = set()  # by id: comparing edges field by field is most of the time
    for target, found in into.items():
        cut = [e for e in found if e.value and _is_cut(e, ranks, len(targets[e.value]))]
        is_far.update(map(id, cut))
        is_far.update(map(id, _too_many([e for e in found if id(e) not in is_far], ranks)))
        far[target] = [edge for edge in found if id(edge) in is_far]
    result: list[Edge] = []
    chips: list[Box] = []
    for edge in edges:
        held = far[edge.target]
        if id(edge) not in is_far:
            result.append(edge)
            continue
        if len(held) <= MOST_CHIPS:
            held = [edge]
        elif edge is not held[0]:
            continue
        chip = _chip(f"r{len(result)}", held, by_id)
        chips.append(chip)
        result.append(replace(edge, source=chip.id, dashed=True, label=""))
    return result, chips


def _is_cut(edge: Edge, ranks: Mapping[str, int], readers: int) -> bool:
    span = ranks[edge.target] - ranks[edge.source]
    return any(readers >= fan_out and span > longest for fan_out, longest in _CUTS)


def _bundled(edges: Sequence[Edge]) -> list[Edge]:
    """Parallel edges as one where they are too many to tell apart."""
    parallel: dict[tuple[str, str], list[Edge]] = {}
    for edge in edges:
        parallel.setdefault((edge.source, edge.target), []).append(edge)
    result: list[Edge] = []
    for edge in edges:
        found = parallel[edge.source, edge.target]
        if len(found) <= MOST_PARALLEL:
            result.append(edge)
        elif edge is found[0]:
            named = f"{len(found)} values: {', '.join(e.name for e in found[:_LISTED])}"
            result.append(replace(edge, name=named, label=f"{len(found)} values"))
    return result


def _too_many(into: Sequence[Edge], ranks: Mapping[str, int]) -> list[Edge]:
    """Of the edges into one box, those that a chip is to stand for."""

    def span(edge: Edge) -> int:
        return ranks[edge.target] - ranks[edge.source]

    nearest = sorted((edge for edge in into if edge.value), key=span)
    far = [edge for edge in nearest[MOST_FAR_INTO:MOST_INTO] if span(edge) > NEAR]
    gathered = [*far, *nearest[MOST_INTO:]]
    return gathered if len(gathered) > 1 else []


def _chip(ident: str, edges: Sequence[Edge], boxes: Mapping[str, Box]) -> Box:
    """The chip at the far end of one value, or of all the values that one box still reads."""
    source, reader = boxes[edges[0].source], boxes[edges[0].target]
    if len(edges) == 1:
        title = shorten(edges[0].name, 22)
        tooltip = f"{shorten(edges[0].name, 100)} from {shorten(source.name, 100)}"
    else:
        title = f"{len(edges)} more"
        told = [
            f"{shorten(edge.name, 60)} from {shorten(boxes[edge.source].name, 60)}"
            for edge in edges[:_LISTED]
        ]
        hidden = len(edges) - len(told)
        tooltip = "\n".join([*told, *([f"{hidden} more"] if hidden else [])])
    return Box(
        id=ident,
        name=source.name,
        kind="reference",
        role=source.role,
        title=f"\N{NORTH EAST ARROW} {title}",
        cluster=reader.cluster,
        tooltip=tooltip,
    )


def _ranks(
    boxes: Iterable[Box], edges: Iterable[Edge], positions: Mapping[str, int]
) -> dict[str, int]:
    """Longest path from a source, over edges that go forward in the graph's own order."""
    incoming: dict[str, list[str]] = {}
    for edge in edges:
        if positions[edge.source] < positions[edge.target]:
            incoming.setdefault(edge.target, []).append(edge.source)
    ranks: dict[str, int] = {}
    for box in sorted(boxes, key=lambda box: positions[box.id]):
        sources = incoming.get(box.id, ())
        ranks[box.id] = max((ranks.get(source, 0) + 1 for source in sources), default=0)
    return ranks
