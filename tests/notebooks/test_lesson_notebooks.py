"""Lessons show the programs that the tests of the library run, and answers that hold."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import onemodel as om
from onemodel.codes import CODES
from onemodel.errors import TraceErrorKind
from onemodel.lessons import LESSONS
from scripts import run_notebooks
from tests.notebooks.rules import code_cells, text

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
KINDS = {
    "10_data_dependent": TraceErrorKind.DATA_DEPENDENT,
    "11_in_place_mutation": TraceErrorKind.IN_PLACE_MUTATION,
    "12_no_grad_in_trace": TraceErrorKind.NO_GRAD_IN_TRACE,
    "13_symbolic_shape": TraceErrorKind.SYMBOLIC_SHAPE,
    "14_invalid_usage": TraceErrorKind.INVALID_USAGE,
    "15_unsupported_operation": TraceErrorKind.UNSUPPORTED_OPERATION,
}
ANSWER = re.compile(r"<details><summary>Answer</summary>\s*```python\n(.*?)```\s*</details>", re.S)


def read(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))


def refusals(notebook: dict[str, Any]) -> list[tuple[str, str]]:
    """Program and code of every cell that was refused, in order."""
    found = []
    for _, cell in code_cells(notebook):
        for output in cell["outputs"]:
            if output["output_type"] == "error":
                match = re.search(r"OM\d{3}", output["evalue"])
                found.append((text(cell["source"]), match.group() if match else ""))
    return found


def without_mark(program: str) -> str:
    return "\n".join(line.split("  # <-")[0].rstrip() for line in program.splitlines())


def answers(notebook: dict[str, Any]) -> list[str]:
    return [
        found
        for cell in notebook["cells"]
        if cell["cell_type"] == "markdown"
        for found in ANSWER.findall(text(cell["source"]))
    ]


def run_in_process(notebook: dict[str, Any], *, last: str = "") -> dict[str, Any]:
    """The names a notebook leaves behind; ``last`` is run after its cells."""
    space: dict[str, Any] = {}
    for _, cell in code_cells(notebook):
        source = "\n".join(
            line for line in text(cell["source"]).splitlines() if not line.startswith("%")
        )
        try:
            exec(source, space)
        except om.TraceException:
            assert "raises-exception" in cell["metadata"].get("tags", ())
        finally:
            om.Tracer.reset()
    exec(last, space)
    return space


def test_each_kind_has_a_lesson_of_its_own():
    assert set(KINDS.values()) == set(TraceErrorKind)


@pytest.mark.parametrize("name", KINDS)
def test_a_lesson_refuses_its_own_kind_and_shows_programs_that_are_tested(name):
    shown = refusals(read(name))
    assert {CODES[code].kind for _, code in shown} == {KINDS[name]}
    known = {without_mark(lesson.failing) for lesson in LESSONS.values()}
    assert shown[0][0] in known
    assert sum(program in known for program, _ in shown) >= len(shown) - 1


@pytest.mark.parametrize("name", KINDS)
def test_a_lesson_shows_each_rewrite_right_at_two_sizes(name):
    notebook = read(name)
    mended = {lesson.mended for lesson in LESSONS.values()} - {""}
    sources = [text(cell["source"]) for _, cell in code_cells(notebook)]
    shown = [source for source in sources if source in mended]
    told = "".join(
        text(output.get("text", ""))
        for _, cell in code_cells(notebook)
        for output in cell["outputs"]
    )
    assert shown
    assert told.count("agree: True") >= 2 * len(shown)
    assert "agree: False" not in told


@pytest.mark.parametrize("name", KINDS)
def test_the_answer_of_a_lesson_traces_and_gives_the_values_of_the_exercise(name):
    notebook = read(name)
    (answer,) = answers(notebook)
    space = run_in_process(notebook)
    before, x = space["model"], space["x"]
    exec(answer, space)
    assert space["model"] is not before
    traced, model = space["traced"], space["model"]
    assert isinstance(traced, om.TracedModel)
    if len(traced.inputs) == 1:
        np.testing.assert_allclose(model(x).detach().numpy(), before(x).detach().numpy(), rtol=1e-5)
    for rows in (4, 9):
        feeds = {
            value.name: np.random.default_rng(rows).standard_normal(
                [extent.evaluate(dict.fromkeys(traced.symbols, rows)) for extent in value.axes],
                dtype=np.float32,
            )
            for value in traced.inputs
        }
        (got,) = om.Session(traced).run(feeds).values()
        wanted = model(*(om.tensor(array) for array in feeds.values())).detach().numpy()
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_the_answer_about_the_second_file_names_the_node_that_was_changed():
    notebook = read("20_someone_elses_export")
    (answer,) = answers(notebook)
    space = run_in_process(notebook, last=answer)
    assert space["report"].first_introduced.node.name == "attention/key"


def test_the_answer_about_opsets_writes_no_gelu():
    notebook = read("30_opsets")
    (answer,) = answers(notebook)
    traced = run_in_process(notebook, last=answer)["traced"]
    written = [node.op_type for node in traced.graph.nodes]
    assert "Erf" in written and "Gelu" not in written


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_two_runs_under_different_hash_seeds_give_the_same_bytes(path, monkeypatch):
    runs = {}
    for seed in ("0", "1"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        runs[seed] = run_notebooks.to_text(run_notebooks.executed(path))
    assert list(run_notebooks.compare(runs["0"], runs["1"], path.name)) == []
