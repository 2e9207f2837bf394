"""Every rung of the layout ladder draws every box; a missing or slow engine is no error."""

from __future__ import annotations

import os
import stat
import subprocess

import pytest

from onemodel_widgets.views import dot, graph
from onemodel_widgets.views.dot import HINT, LayoutTooSlow, find_engine, lay_out, to_dot
from onemodel_widgets.views.graph import draw, graph_data
from onemodel_widgets.views.layout import layered
from onemodel_widgets.views.scene import first_opened, make_scene, outline
from tests.widgets import samples

GRAPHS = {
    "cnn": samples.cnn,
    "encoder": lambda: samples.encoder(3),
    "chain": lambda: samples.chain(500),
    "hostile": samples.hostile,
}


def scene_of(make):
    outlined = outline(make())
    return make_scene(outlined, first_opened(outlined))


def overlapping(layout):
    rects = sorted(layout.boxes.items(), key=lambda item: item[1].y)
    pairs = []
    for index, (name, a) in enumerate(rects):
        for other, b in rects[index + 1 :]:
            if b.y >= a.y + a.height:
                break
            if a.x < b.x + b.width and b.x < a.x + a.width:
                pairs.append((name, other))
    return pairs


def check(scene, layout):
    assert set(layout.boxes) == {box.id for box in scene.boxes}
    assert len(layout.routes) == len(scene.edges)
    assert not overlapping(layout)
    for rect in layout.boxes.values():
        assert rect.x >= 0
        assert rect.y >= 0
        assert rect.x + rect.width <= layout.width + 1
        assert rect.y + rect.height <= layout.height + 1
    for route in layout.routes:
        assert len(route.points) % 3 == 1


@pytest.mark.parametrize("name", GRAPHS)
def test_our_own_layout_places_every_box_without_overlap(name):
    scene = scene_of(GRAPHS[name])
    layout = layered(scene)
    check(scene, layout)
    assert layout == layered(scene)


@pytest.mark.skipif(find_engine() is None, reason="no Graphviz engine is installed")
@pytest.mark.parametrize("name", GRAPHS)
def test_the_engine_places_every_box_without_overlap(name):
    scene = scene_of(GRAPHS[name])
    layout = lay_out(scene, timeout=60)
    assert layout.engine in ("dot", "graphviz-pure")
    check(scene, layout)
    assert {c.id for c in scene.clusters} == set(layout.clusters)


def test_edges_follow_the_scene_and_go_from_their_source_to_their_target():
    scene = scene_of(GRAPHS["encoder"])
    layout = lay_out(scene, timeout=60)
    for edge, route in zip(scene.edges, layout.routes, strict=True):
        source, target = layout.boxes[edge.source], layout.boxes[edge.target]
        for (x, y), rect in ((route.points[0], source), (route.tip, target)):
            assert rect.x - 3 <= x <= rect.x + rect.width + 3
            assert rect.y - 3 <= y <= rect.y + rect.height + 3


def test_our_own_layout_survives_a_cycle_between_folded_modules():
    b = samples.Builder()
    y = b.input("x", (1,))
    for index in range(6):
        for part in ("left", "right"):
            scope = part if index % 3 else f"{part}.inner"
            y = b.node("Relu", y, name=f"{part}{index}", scope=scope, shape=(1,))
    outlined = outline(b.finish(y))
    scene = make_scene(outlined, set())
    assert any(
        (e.target, e.source) in {(f.source, f.target) for f in scene.edges} for e in scene.edges
    )
    check(scene, layered(scene))


def test_without_an_engine_the_whole_graph_is_drawn_with_a_hint(monkeypatch):
    monkeypatch.setattr(dot, "find_engine", lambda: None)
    data = graph_data(samples.cnn())
    picture = data.picture()
    assert picture.layout.engine == "plain"
    assert picture.layout.note == HINT
    html = data.to_html()
    assert "graphviz" in html
    for title in ("Conv", "Relu", "MaxPool", "Reshape", "Gemm", "Softmax"):
        assert f">{title}</text>" in html


def fake_engine(path, body):
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return "dot", str(path)


@pytest.mark.skipif(os.name == "nt", reason="the fake engine is a shell script")
@pytest.mark.parametrize(
    "body", ["exit 1", "echo '{}'", "echo not json", 'echo \'{"bb": "0,0,1,1"}\'']
)
def test_an_engine_that_fails_or_talks_nonsense_gives_way_to_our_layout(
    body, tmp_path, monkeypatch
):
    engine = fake_engine(tmp_path / "dot", body)
    monkeypatch.setattr(dot, "find_engine", lambda: engine)
    layout = lay_out(scene_of(samples.cnn))
    assert layout.engine == "plain"
    assert layout.note.startswith("dot ")


@pytest.mark.skipif(os.name == "nt", reason="the fake engine is a shell script")
def test_a_slow_engine_is_stopped(tmp_path, monkeypatch):
    engine = fake_engine(tmp_path / "dot", "exec sleep 30")
    monkeypatch.setattr(dot, "find_engine", lambda: engine)
    with pytest.raises(LayoutTooSlow, match=r"dot took longer than 0\.2 s"):
        lay_out(scene_of(samples.cnn), timeout=0.2)


def test_where_an_engine_is_too_slow_the_picture_gets_coarser_level_by_level(monkeypatch):
    tried = []

    def slow_above(scene):
        tried.append(len(scene.boxes))
        if len(scene.boxes) > 20:
            raise LayoutTooSlow("too slow")
        return layered(scene)

    monkeypatch.setattr(graph, "lay_out", slow_above)
    outlined = outline(samples.encoder(4))
    picture = draw(outlined, {key for key in outlined.groups if key})
    assert tried == sorted(tried, reverse=True)
    assert len(tried) > 2
    assert len(picture.scene.boxes) <= 20

    def always_slow(scene):
        raise LayoutTooSlow("too slow")

    monkeypatch.setattr(graph, "lay_out", always_slow)
    assert draw(outlined, set()).layout.engine == "plain"


def test_no_name_of_a_model_reaches_the_engine():
    text = to_dot(scene_of(samples.hostile))
    for name in samples.HOSTILE:
        assert name[:8] not in text


def test_dot_for_other_tools_has_escaped_labels_and_is_the_same_each_time():
    data = graph_data(samples.hostile())
    text = data.to_dot()
    assert text == graph_data(samples.hostile()).to_dot()
    assert "URL" not in text
    engine = find_engine()
    if engine is None:
        pytest.skip("no Graphviz engine is installed")
    done = subprocess.run(
        [engine[1], "-Tsvg"], input=text.encode(), capture_output=True, timeout=60, check=True
    )
    drawn = done.stdout.decode()
    assert "<script" not in drawn
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in drawn
