"""`make workbench HEADLESS=1` in small: a page that is whole, and an honest status."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from scripts import workbench

SHOWN = """
class Shown:
    def _repr_mimebundle_(self, include=None, exclude=None):
        view = {"version_major": 2, "version_minor": 0, "model_id": "0" * 32}
        return {
            "application/vnd.jupyter.widget-view+json": view,
            "text/html": "<svg id='drawn'></svg>",
            "text/plain": "only " + "text",
        }
Shown()
"""


def write(path: Path, *sources: str) -> Path:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(notebook, path)
    return path


def test_the_page_shows_the_picture_and_asks_no_other_machine(tmp_path: Path) -> None:
    notebook = write(tmp_path / "a.ipynb", SHOWN)
    assert workbench.run_headless(notebook, tmp_path / "out") == 0
    page = (tmp_path / "out" / "a.html").read_text(encoding="utf-8")
    assert 'id="drawn"' in page
    assert "only text" not in page
    assert re.findall(r"(?:src|href)=[\"']?https?:|@import|url\(['\"]?https?:", page) == []


def test_a_failing_cell_gives_status_one_and_keeps_the_page(tmp_path: Path) -> None:
    notebook = write(tmp_path / "b.ipynb", "print('so far')", "raise ValueError('planted')")
    assert workbench.run_headless(notebook, tmp_path / "out") == 1
    page = (tmp_path / "out" / "b.html").read_text(encoding="utf-8")
    assert "so far" in page
    assert "planted" in page
