"""Pictures as PNG: every view has one; it is bounded, the same each time, and needs no font."""

from __future__ import annotations

import base64
import io
import logging
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from onemodel_widgets import AxesView, DiffView, ErrorView, GraphView, Workbench
from onemodel_widgets.views import raster, sheet
from tests.widgets import samples
from tests.widgets.test_static_views import hostile_report, refusal

ROOT = Path(__file__).resolve().parents[2]
BOX = '<svg width="100" height="20" xmlns="http://www.w3.org/2000/svg">{}</svg>'


def pixels(png: bytes) -> np.ndarray:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    with Image.open(io.BytesIO(png)) as picture:
        return np.asarray(picture.convert("RGBA")).astype(int)


def word(text: str) -> np.ndarray:
    font = 'font-family="sans-serif" font-size="12"'
    return pixels(raster.png(BOX.format(f'<text x="2" y="14" {font}>{text}</text>')))


VIEWS: dict[str, Callable[[], Any]] = {
    "graph": lambda: GraphView(samples.cnn(), selected="conv1"),
    "axes": lambda: AxesView(samples.cnn()),
    "diff": lambda: DiffView(hostile_report()),
    "error": lambda: ErrorView(refusal(partial=samples.cnn())),
    "error without a graph": lambda: ErrorView(refusal()),
    "workbench": lambda: Workbench(samples.cnn()),
    "hostile graph": lambda: GraphView(samples.hostile()),
    "hostile axes": lambda: AxesView(samples.hostile()),
}
"""One of each kind, and kinds that have no graph to show or show hostile names."""


@pytest.mark.parametrize("name", VIEWS)
def test_every_view_has_a_picture_on_a_solid_light_ground(name):
    view = VIEWS[name]()
    png = view.to_png()
    drawn = pixels(png)
    height, width, _ = drawn.shape
    assert width * height <= raster.MOST_PIXELS * 1.01
    assert len(png) < 200_000
    assert (drawn[..., 3] == 255).all()
    corners = drawn[[0, 0, -1, -1], [0, -1, 0, -1], :3]
    assert (corners > 230).all()
    assert (drawn[..., :3].sum(-1) < 250).mean() > 0.002  # there is ink
    data, _ = view._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == png
    view.close()


def test_a_picture_shows_the_selection_and_the_heat_of_its_view():
    plain, selected = GraphView(samples.cnn()), GraphView(samples.cnn(), selected="conv1")
    assert plain.to_png() != selected.to_png()
    accent = np.array([0x09, 0x69, 0xDA])
    assert (np.abs(pixels(selected.to_png())[..., :3] - accent).sum(-1) < 30).any()
    assert not (np.abs(pixels(plain.to_png())[..., :3] - accent).sum(-1) < 30).any()


def test_flat_colours_come_through_the_palette_as_they_are():
    drawn = pixels(raster.png(BOX.format('<rect width="50" height="20" fill="#a97a00"/>')))
    assert drawn[10, 10].tolist() == [0xA9, 0x7A, 0x00, 255]
    assert drawn[10, 90].tolist() == [255, 255, 255, 255]


@pytest.mark.parametrize("nodes, budget", [(200, 400), (1000, 2000)])
def test_a_large_picture_is_scaled_down(nodes, budget):
    view = GraphView(samples.chain(nodes, scopes=10), budget=budget)
    height, width, _ = pixels(view.to_png()).shape
    assert width * height <= raster.MOST_PIXELS * 1.01
    assert max(width, height) <= raster.LONGEST_SIDE
    view.close()


def test_letters_need_no_font_of_the_machine():
    seen = {text: word(text).tobytes() for text in ("W", "\u03b1", "\u0434", "\u2192", "\u2026")}
    missing = word("\ue000").tobytes()
    assert len({*seen.values(), missing}) == len(seen) + 1
    assert word("\u2197").tobytes() == word("\u2192").tobytes()  # no font of ours has it


def test_two_processes_draw_the_same_bytes():
    program = (
        "import hashlib\nfrom onemodel_widgets import GraphView\n"
        "from tests.widgets import samples\n"
        "print(hashlib.sha256(GraphView(samples.encoder(3)).to_png()).hexdigest())"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": f"{ROOT}:{ROOT / 'widgets'}", "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(told) == 1


@pytest.mark.parametrize(
    "picture",
    [
        "",
        "<svg></svg>",
        '<svg width="9" height="9"><oops</svg>',
        f'<svg width="9" height="9">{"x" * raster.MOST_TEXT}</svg>',
    ],
    ids=["nothing", "no size", "broken", "too long"],
)
def test_what_cannot_be_drawn_is_told(picture):
    with pytest.raises(raster.RasterError):
        raster.png(picture)


def test_a_picture_that_fails_leaves_the_svg_and_is_told(monkeypatch, caplog):
    def refuse(**_kwargs):
        raise ValueError("out of paint")

    monkeypatch.setattr(raster.resvg_py, "svg_to_bytes", refuse)
    raster.png.cache_clear()
    view = GraphView(samples.cnn())
    with caplog.at_level(logging.WARNING):
        data, _ = view._repr_mimebundle_()
    assert set(data) >= {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"}
    assert "image/png" not in data
    assert '<svg class="om-svg' in data["text/html"]
    assert "om-vector" not in data["text/html"]
    assert "no PNG of this GraphView" in caplog.text
    assert "out of paint" in caplog.text


def test_a_renderer_that_panics_is_an_error_like_any_other(monkeypatch):
    class PanicException(BaseException):
        """What a panic in Rust arrives as: no Exception, so that nobody catches it by mistake."""

    def panic(**_kwargs):
        raise PanicException("index out of bounds")

    monkeypatch.setattr(raster.resvg_py, "svg_to_bytes", panic)
    with pytest.raises(raster.RasterError, match="index out of bounds"):
        raster.png(BOX.format("<!-- never drawn before -->"))


def test_the_html_of_a_bundle_has_a_png_for_each_svg_and_a_saved_page_has_none():
    view = ErrorView(refusal(partial=samples.cnn()))
    html = view._repr_mimebundle_()[0]["text/html"]
    assert html.count('<svg class="om-svg') == html.count('<img class="om-raster"') == 1
    assert html.count('<div class="om-vector" hidden="hidden"><svg') == 1
    assert 'alt="Graph digits_cnn' in html
    assert "om-raster" not in view.to_html()


def test_a_table_shows_the_rows_around_the_first_difference():
    rows = [(sheet.cell(f"row {index}"),) for index in range(200)]
    drawn = sheet.draw("title", ["line"], ["name"], rows, marked=120)
    shown = [int(n) for n in re.findall(r">row (\d+)<", drawn)]
    assert len(shown) == sheet.MOST_ROWS
    assert 120 in shown
    assert "160 more rows" in drawn
    assert ">row 0<" in sheet.draw("title", [], ["name"], rows)
    pixels(raster.png(drawn))
