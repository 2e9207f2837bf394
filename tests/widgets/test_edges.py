"""However dense a graph is, its picture has few lines, loses no reader and is laid out quickly."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from onemodel_widgets import GraphView
from onemodel_widgets.views import edges
from onemodel_widgets.views.graph import QUICK
from onemodel_widgets.views.layout import weight
from onemodel_widgets.views.parts import Box, Edge
from onemodel_widgets.views.scene import Scene, first_opened, make_scene, outline
from tests.widgets import samples

DENSE = {
    "10,000 nodes read each other": lambda: samples.tangle(10_000, 2),
    "2,000 nodes read five each": lambda: samples.tangle(2_000, 5),
    "100 nodes read all before them": lambda: samples.tangle(100, 100),
    "60 nodes read 60 nodes": lambda: samples.mesh(60),
}


def scene_of(graph) -> Scene:
    outlined = outline(graph)
    return make_scene(outlined, first_opened(outlined))


@pytest.mark.parametrize("name", DENSE)
def test_no_box_has_more_lines_than_can_be_told_apart(name):
    scene = scene_of(DENSE[name]())
    into = Counter(edge.target for edge in scene.edges)
    chips = sum(box.kind == "reference" for box in scene.boxes)
    assert max(into.values()) <= edges.MOST_INTO + edges.MOST_CHIPS
    assert chips <= edges.MOST_CHIPS * (len(scene.boxes) - chips)
    assert weight(scene) <= QUICK


@pytest.mark.parametrize("name", DENSE)
def test_a_dense_graph_is_seen_at_once(name):
    graph = DENSE[name]()
    start = time.monotonic()
    view = GraphView(graph)
    spent = time.monotonic() - start
    assert view._picture.layout.note == ""
    assert spent < 5  # half a second on an idle machine
    view.close()


def boxes(count: int) -> tuple[list[Box], dict[str, int]]:
    made = [Box(f"n{i}", f"node {i}", "node", "math", "Sum") for i in range(count)]
    return made, {box.id: index for index, box in enumerate(made)}


def chain(count: int) -> list[Edge]:
    return [Edge(f"n{i}", f"n{i + 1}", f"c{i}", f"chain {i}") for i in range(count - 1)]


def test_many_values_between_two_boxes_are_one_line_that_names_them():
    made, positions = boxes(2)
    some = [Edge("n0", "n1", f"v{i}", f"value {i}") for i in range(edges.MOST_PARALLEL)]
    assert edges.drawn_edges(made, some, positions) == (some, [])
    more = [*some, Edge("n0", "n1", "last", "the last")]
    (line,), chips = edges.drawn_edges(made, more, positions)
    assert line.name == "5 values: value 0, value 1, value 2, value 3, the last"
    assert chips == []


def test_the_nearest_keep_their_lines_and_one_chip_names_the_rest():
    made, positions = boxes(40)
    skips = [Edge(f"n{i}", "n39", f"s{i}", f"skip {i}") for i in range(38)]
    drawn, (chip,) = edges.drawn_edges(made, [*chain(40), *skips], positions)
    into = [edge for edge in drawn if edge.target == "n39"]
    near = {edge.source for edge in into if edge.source != chip.id}
    assert near == {f"n{i}" for i in range(39 - edges.MOST_FAR_INTO, 39)}
    assert chip.title.endswith(f"{39 - edges.MOST_FAR_INTO} more")
    assert chip.tooltip.startswith("skip 0 from node 0\nskip 1 from node 1\n")
    assert [edge.dashed for edge in into if edge.source == chip.id] == [True]


def test_branches_that_join_nearby_all_keep_their_lines():
    made, positions = boxes(edges.MOST_INTO + 2)
    last = f"n{edges.MOST_INTO + 1}"
    fan = [Edge("n0", f"n{i}", "x", "x") for i in range(1, edges.MOST_INTO + 1)]
    join = [Edge(f"n{i}", last, f"b{i}", f"branch {i}") for i in range(1, edges.MOST_INTO + 1)]
    assert edges.drawn_edges(made, [*fan, *join], positions) == ([*fan, *join], [])
