"""The script that regenerates notebooks makes two runs equal and keeps the rules."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from scripts import run_notebooks
from tests.notebooks import rules

CELLS = [
    "import ipywidgets, sys, tempfile\n"
    "class Shown(ipywidgets.IntSlider):\n"
    "    def _repr_mimebundle_(self, **kwargs):\n"
    "        data = super()._repr_mimebundle_(**kwargs)\n"
    "        return {**data, 'text/html': '<b>3</b>', 'text/plain': 'slider at 3',\n"
    "                'image/png': 'iVBORw0KGgo='}",
    "Shown(value=3)",
    "print(tempfile.__file__)",
    "def f():\n    raise ValueError('meant')\nf()",
]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    notebook.cells[-1].metadata["tags"] = ["raises-exception"]
    path = tmp_path_factory.mktemp("notebooks") / "07_probe.ipynb"
    nbformat.write(notebook, path)
    assert run_notebooks.main([str(path)]) == 0
    return path


def test_a_written_notebook_keeps_every_rule(written: Path) -> None:
    notebook = json.loads(written.read_text(encoding="utf-8"))
    assert [text for rule in rules.RULES for text in rule(notebook)] == []


def test_a_second_run_gives_the_same_bytes(
    written: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_notebooks.main(["--check", str(written)]) == 0
    assert "the same" in capsys.readouterr().out


def test_check_tells_a_changed_output_and_leaves_the_file_alone(
    written: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / written.name
    # In double quotes it is the stored output; in the cell's source the quotes are single.
    text = written.read_text(encoding="utf-8").replace('"slider at 3"', '"slider at 4"')
    changed.write_text(text, encoding="utf-8")
    before = changed.read_bytes()
    assert run_notebooks.main(["--check", str(changed)]) == 1
    assert "slider at 4" in capsys.readouterr().out
    assert changed.read_bytes() == before


def test_cell_files_and_library_paths_are_cut_from_text() -> None:
    text = "/tmp/ipykernel_81/77.py in f\n/opt/env/lib/python3.12/site-packages/numpy/a.py"
    assert run_notebooks.stable_text(text) == "<cell> in f\nnumpy/a.py"
