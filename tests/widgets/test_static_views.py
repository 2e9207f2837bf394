"""Static forms: complete, harmless, without scripts or requests, the same bytes each time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from onemodel.axes.extent import Extent
from onemodel.compare import compare
from onemodel.errors import (
    AxisInvolved,
    CallSite,
    ProvenanceStep,
    Rewrite,
    TraceErrorKind,
    TraceException,
)
from onemodel.graph.ir import Graph
from onemodel_widgets.views import page, svg
from onemodel_widgets.views.axes import axes_data
from onemodel_widgets.views.diff import diff_data
from onemodel_widgets.views.error import KIND_WORDS, error_card
from onemodel_widgets.views.graph import graph_data
from onemodel_widgets.views.statistics import statistics
from tests.widgets import samples

ROOT = Path(__file__).resolve().parents[2]
HTML_ELEMENTS = frozenset(
    """
    section style div span p h3 i strong code mark pre ol li table caption thead tbody tr th
    td details summary
    """.split()  # noqa: SIM905
)


class Reader(HTMLParser):
    """Collects elements, attributes and text; complains where tags do not balance."""

    VOID = frozenset({"rect", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def of(self, css: str) -> list[dict[str, str | None]]:
        return [a for _tag, a in self.elements if css in (a.get("class") or "").split()]


def refusal(
    name: str = "mean", source: str = "        if x.mean() > 0:", partial: Graph | None = None
):
    site = CallSite("/tmp/ipykernel_1/2.py", 6, 6, 11, 23, "Net.forward", source, 3)
    outer = CallSite("main.py", 1, 1, 9, 27, "<module>", "traced = om.trace(model, x)")
    return TraceException(
        TraceErrorKind.DATA_DEPENDENT,
        "OM101",
        "bool()",
        f"bool() reads {name}",
        call_site=site,
        call_chain=[outer, site],
        provenance=[
            ProvenanceStep("x", "input", "[batch, 8]", "float32", None),
            ProvenanceStep(name, "mean", "[]", "float32", site),
        ],
        axes=[AxisInvolved("x", 0, "batch", 4)],
        suggestions=[Rewrite("choose inside the graph", "y = om.where(c, a, b)\nreturn y")],
        partial=partial,
        value=name,
    )


def hostile_report():
    graph = samples.hostile()
    names = [v.name for node in graph.nodes for v in node.outputs]
    one = {name: np.zeros(2, np.float32) for name in names}
    two = {name: np.ones(2, np.float32) for name in names}
    feeds = {graph.inputs[0].name: np.zeros((2, 4), np.float32)}
    return compare(graph, feeds, against=[(samples.HOSTILE[1], one), (samples.HOSTILE[3], two)])


def hostile_fragments() -> dict[str, str]:
    graph = samples.hostile()
    fixed = [
        SimpleNamespace(extent=n, operation=n, value=n, site=None, message=n)
        for n in samples.HOSTILE
    ]
    partial = samples.hostile()
    cards = [error_card(refusal(n, f"if {n}:", partial)).to_html() for n in samples.HOSTILE]
    selected = next(iter(graph_data(graph).outlined.keys.values()))
    return {
        "graph": graph_data(graph, selected=selected).to_html(),
        "folded": graph_data(graph, opened=()).to_html(),
        "axes": axes_data(graph, {samples.HOSTILE[2]: 3}, fixed).to_html(),
        "diff": diff_data(hostile_report()).to_html(),
        "error": "".join(cards),
        "svg": graph_data(graph).to_svg(),
    }


@pytest.mark.parametrize("view", ["graph", "folded", "axes", "diff", "error", "svg"])
def test_hostile_names_are_text_in_every_view(view):
    fragment = hostile_fragments()[view]
    fragment.encode("utf-8")
    reader = Reader(fragment)
    allowed = HTML_ELEMENTS | svg.ELEMENTS
    assert {tag for tag, _ in reader.elements} <= allowed
    for tag, attributes in reader.elements:
        for name, value in attributes.items():
            assert not name.startswith("on")
            assert name not in ("href", "src", "xlink:href", "style", "srcdoc")
            if not name.startswith(("data-", "aria-")) and name not in ("title", "xmlns"):
                assert "javascript:" not in (value or ""), tag
                assert "url(" not in (value or "")
    style = "".join(re.findall(r"<style>.*?</style>", fragment, re.DOTALL))
    for name in samples.HOSTILE:
        assert f"{name}" not in style
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", fragment)
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", fragment)


def test_a_name_of_ten_thousand_characters_does_not_swell_the_page():
    assert len(hostile_fragments()["graph"]) < 400_000


def test_what_is_drawn_is_well_formed_and_named():
    data = graph_data(samples.cnn(), selected="pool")
    reader = Reader(data.picture().svg)
    names = [a["data-name"] for a in reader.of("om-node")]
    assert names == [
        "input:x",
        "conv1",
        "relu",
        "pool",
        "shape:flatten",
        "flatten",
        "fc",
        "softmax",
        "output:probabilities",
    ]
    assert [a["data-name"] for a in reader.of("om-selected")] == ["pool"]
    assert all(a["role"] == "button" and a["aria-label"] for a in reader.of("om-node"))
    ids = [a["id"] for _tag, a in reader.elements if "id" in a]
    assert len(ids) == len(set(ids))
    assert len({i.split("-")[0] for i in ids}) == 1
    values = [a["data-value"] for a in reader.of("om-edge")]
    assert all(
        f"om-{v}" in (a["class"] or "")
        for v, a in zip(values, reader.of("om-edge"), strict=True)
        if v
    )


def test_two_graphs_on_one_page_have_ids_of_their_own():
    def ids(graph):
        reader = Reader(graph_data(graph).picture().svg)
        return {a["id"] for _tag, a in reader.elements if "id" in a}

    assert not ids(samples.cnn()) & ids(samples.encoder(2))


def test_the_inspector_knows_operands_attributes_source_and_numbers():
    values = {"pool": np.arange(512, dtype=np.float32).reshape(4, 8, 4, 4)}
    facts = graph_data(samples.cnn(), values=values).node("pool")
    assert facts is not None
    assert (facts.op, facts.scope, facts.place) == ("MaxPool", "pool", "In[3]:5")
    assert facts.expression == "self.pool(x)"
    assert ("kernel_shape", "[2, 2]") in facts.attributes
    assert facts.outputs[0].type == "float32[batch, 8, 4, 4]"
    numbers = facts.outputs[0].statistics
    assert numbers is not None
    assert (numbers.low, numbers.high, numbers.zeros) == (0.0, 511.0, 1)
    json.dumps(facts.to_dict())


def test_statistics_tell_special_numbers_and_never_fail():
    numbers = statistics(np.array([np.nan, np.inf, -1.0, 0.0, 3.0], np.float16))
    assert (numbers.nans, numbers.infinities, numbers.low, numbers.high) == (1, 1, -1.0, 3.0)
    assert sum(numbers.histogram) == 3
    for array in (
        np.array([]),
        np.array("text"),
        np.array([None]),
        np.array([np.nan]),
        np.array([True]),
        np.array([1 + 2j]),
        np.array([1e308, -1e308]),
    ):
        json.dumps(statistics(array).to_dict())
    large = statistics(np.ones(2_100_000, np.int8))
    assert large.sampled


def test_the_error_card_marks_exactly_the_call():
    html = error_card(refusal(partial=samples.cnn())).to_html()
    assert '<mark class="om-offence">x.mean() &gt; 0</mark>' in html
    text = re.sub(r"<[^>]+>", "", html)
    for part in (
        "DataDependent OM101",
        "In[3]:6 in Net.forward",
        "choose inside the graph",
        "y = om.where(c, a, b)",
        "batch, axis 0 of x, is 4 in the example",
        "om.trace(model, x)",
        "not reached",
    ):
        assert part in text, part


def test_a_call_over_several_lines_is_marked_on_each():
    source = "    y = om.cat(\n        [a, b],\n    )"
    site = CallSite("net.py", 4, 6, 8, 5, "f", source)
    html = page.code([(4 + i, line) for i, line in enumerate(source.split("\n"))], site)
    assert re.findall(r'<mark class="om-offence">(.*?)</mark>', html) == ["om.cat(", "[a, b],", ")"]


@pytest.mark.parametrize(
    "site",
    [
        None,
        CallSite("net.py", 1, 1, None, None, "f", ""),
        CallSite("net.py", 1, 1, 5, 99, "f", "x"),
        CallSite("net.py", 3, 3, None, None, "f", "    x.item()"),
    ],
)
def test_a_card_is_made_of_whatever_is_known(site):
    exception = TraceException(
        TraceErrorKind.SYMBOLIC_SHAPE, "OM000", "f()", "a\nb", call_site=site
    )
    card = error_card(exception)
    assert "SymbolicShape OM000" in card.to_text()
    Reader(card.to_html())
    json.dumps(card.to_dict())


def test_every_kind_has_words_of_its_own():
    assert set(KIND_WORDS) == {kind.name for kind in TraceErrorKind}
    assert len(set(KIND_WORDS.values())) == len(KIND_WORDS)


def axes_graph() -> Graph:
    b = samples.Builder("axes")
    n, w = Extent.symbol("batch"), Extent.symbol("width")
    x = b.input("x", (n, 3, w))
    half = (w - 1) // 2 + 1
    y = b.node("Conv", x, name="conv", shape=(n, 8, half))
    y = b.node("Reshape", y, name="flat", shape=(n * half, 8))
    return b.finish(b.node("Gather", y, name="unknown", shape=None))


def test_axes_carry_the_index_of_every_atom_and_sizes_follow_the_symbols():
    data = axes_data(axes_graph(), {"batch": 4, "width": 9})
    texts = [atom.text for atom in data.atoms]
    assert texts[:2] == ["batch", "width"]
    assert [a.declared for a in data.atoms] == [True, True, False]
    derived = data.atoms[2]
    assert (derived.owner, derived.example) == ("conv_out", 5)
    flat = next(row for row in data.rows if row.name == "flat_out")
    assert flat.chips is not None
    assert flat.chips[0].size == 20
    assert set(flat.chips[0].atoms) == {0, 1, 2}
    assert next(row for row in data.rows if row.name == "unknown_out").chips is None
    other = axes_data(axes_graph(), {"batch": 2, "width": 5})
    assert next(r for r in other.rows if r.name == "flat_out").chips[0].size == 6


def test_memory_follows_the_sizes_and_counts_each_value_until_its_last_reader():
    b = samples.Builder()
    n = Extent.symbol("batch")
    x = b.input("x", (n, 100))
    w = b.constant("w", np.zeros(100, np.float32))
    y = b.node("Mul", x, w, name="a", shape=(n, 100))
    y = b.node("Neg", y, name="b", shape=(n, 100))
    y = b.node("Exp", y, name="c", shape=(n, 100))
    data = axes_data(b.finish(y), {"batch": 2})
    one = 2 * 100 * 4
    assert [row.bytes for row in data.rows] == [one] * 4
    memory = data.memory
    assert (memory.constants, memory.values, memory.unknown) == (400, 3 * one, 0)
    assert memory.peak == 2 * one  # an operand and its result, at every node
    assert "memory at batch = 2: constants 400 B, values 2.344 KiB" in data.to_text()
    assert "800 B" in data.to_html()


def test_sizes_nobody_knows_are_told_and_counted_as_nothing():
    data = axes_data(axes_graph(), {})
    assert data.memory.peak == 0
    assert data.memory.unknown == 4
    assert data.memory.known == 0
    for form in (data.to_text(), data.to_html(), data.to_svg()):
        assert "constants 0 B, the sizes of all 4 values are unknown" in form
        assert "values 0 B" not in form


def test_where_some_sizes_are_known_the_others_are_counted():
    b = samples.Builder()
    x = b.input("x", (2, 3))
    y = b.node("Mul", x, x, name="a", shape=None)
    data = axes_data(b.finish(y), {})
    assert (data.memory.known, data.memory.unknown) == (1, 1)
    assert "at most 24 B of them at once, 1 of unknown size left out" in data.to_text()


def test_hovering_an_atom_needs_no_script():
    html = axes_data(axes_graph(), {"batch": 4, "width": 9}).to_html()
    reader = Reader(html)
    assert len(reader.of("om-carries-0")) == 4
    assert ".om-axes-view:has(.om-carries-0:hover) .om-carries-0" in html


def test_specialisations_are_listed_with_their_lines():
    fixed = SimpleNamespace(
        extent=Extent.symbol("batch"),
        operation="int()",
        value=4,
        site=samples.site(6, "om.flatten(x, 1)"),
        message="used as a number",
    )
    data = axes_data(axes_graph(), {}, [fixed])
    assert "In[3]:6" in data.to_html()
    assert "fixed: batch by int()  In[3]:6" in data.to_text()


def planted():
    graph = samples.cnn()
    x = np.random.default_rng(0).standard_normal((4, 1, 8, 8)).astype(np.float32)
    known = compare(graph, {"x": x}, against=("session", "onnxruntime")).arrays["session"]
    brought = {name: np.array(array) for name, array in known.items()}
    brought["fc"] = brought["fc"] * np.float32(1.01)
    brought["probabilities"] = brought["probabilities"] + np.float32(0.1)
    return compare(graph, {"x": x}, against=("session", ("torch", brought)))


def test_the_diff_marks_the_first_introduced_difference_and_what_inherits_it():
    data = diff_data(planted())
    assert data.first == "fc"
    reader = Reader(data.to_html())
    assert [a["data-name"] for a in reader.of("om-first")] == ["fc"]
    text = " ".join(reader.texts)
    assert "introduced here" in text
    assert "inherited" in text
    assert "In[3]:7" in text
    assert data.marks()["fc"] >= {"om-introduced"}
    assert "conv1" not in data.marks()
    json.dumps(data.to_dict())


def test_a_comparison_without_any_source_has_no_column_for_it():
    data = diff_data(planted())
    assert data.placed and data.headings[-1] == "source"
    assert "source</th>" in data.to_html() and ">source<" in data.to_svg()
    bare = replace(data, rows=tuple(replace(r, place="", expression="") for r in data.rows))
    assert bare.headings == ("operator", "value", "type", *data.columns)
    html, sheet = bare.to_html(), bare.to_svg()
    assert "source</th>" not in html and ">source<" not in sheet
    cells = html.count("<td")
    assert cells == len(bare.rows) * len(bare.headings)
    assert data.to_html().count("<td") == cells + len(data.rows)
    assert all(line == line.rstrip() for line in bare.to_text().splitlines())


def test_a_long_report_keeps_every_difference_within_its_cap(monkeypatch):
    from onemodel_widgets.views import diff

    monkeypatch.setattr(diff, "MAX_ROWS", 3)
    data = diff.diff_data(planted())
    assert len(data.rows) == 3
    assert {"fc", "softmax"} <= {row.node for row in data.rows}
    assert data.rows[data.first_row].node == "fc"
    assert "5 more values are not listed" in data.to_html()


SCRIPT = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from tests.widgets import test_static_views as t
from tests.widgets import samples
parts = [t.graph_data(samples.encoder(12)).to_html(), t.graph_data(samples.encoder(3)).to_html(),
         t.graph_data(samples.chain(700)).to_html(), t.graph_data(samples.cnn()).to_text(),
         t.error_card(t.refusal(partial=samples.cnn())).to_html(),
         t.axes_data(t.axes_graph(), {"batch": 4, "width": 9}).to_html(),
         t.diff_data(t.planted()).to_html(), t.graph_data(samples.encoder(3)).to_dot()]
print(hashlib.sha256("".join(parts).encode()).hexdigest())
print([p for p in parts if "0x" in p.replace("0x0", "")] and "address" or "")
"""


def test_the_bytes_are_the_same_in_every_process_and_hash_seed():
    def digest(seed: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(ROOT), str(ROOT / "widgets")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        return done.stdout

    assert digest("0") == digest("1")


def test_a_page_stands_alone():
    whole = page.document("title <b>", graph_data(samples.cnn()).to_html())
    assert whole.startswith("<!DOCTYPE html>")
    assert "title &lt;b&gt;" in whole
    assert "<script" not in whole
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", whole)


def test_text_is_a_table_of_nodes_with_source_lines():
    lines = graph_data(samples.cnn()).to_text().splitlines()
    assert lines[0] == "graph digits_cnn, 8 nodes, opset 20"
    assert lines[1] == "  input  x: float32[batch, 1, 8, 8]"
    assert re.search(
        r"Conv +conv1 +float32\[batch, 8, 8, 8\] +In\[3\]:3 +self.conv1\(x\)", lines[2]
    )
    assert lines[-1] == "  output probabilities: float32[batch, 10]"
    long = graph_data(samples.chain(500)).to_text().splitlines()
    assert len(long) < 70
    assert "440 more nodes" in long[-2]
