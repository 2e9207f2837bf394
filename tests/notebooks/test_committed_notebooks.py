"""The committed notebooks keep every rule that nbval does not look at."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.notebooks import rules

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_there_is_a_tour() -> None:
    assert "00_tour.ipynb" in [path.name for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_notebook_keeps_the_rule(rule: Callable[[rules.Notebook], list[str]], path: Path) -> None:
    violations = rule(json.loads(path.read_text(encoding="utf-8")))
    assert not violations, "\n".join(violations)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_does_not_tell_where_it_was_run(path: Path) -> None:
    assert f"{ROOT}/" not in path.read_text(encoding="utf-8")
