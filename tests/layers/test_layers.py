"""The source tree obeys the rules of ARCHITECTURE.md."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.layers import rules

ROOT = Path(__file__).resolve().parents[2]

LONG_FILES: dict[str, str] = {}
"""Module -> why it may be longer."""

LONG_FUNCTIONS: dict[str, str] = {}
"""Module.function -> why it may be longer."""

NOT_LOADED = (
    "onnx",
    "onnxruntime",
    "IPython",
    "ipywidgets",
    "anywidget",
    "graphviz",
    "google.protobuf",
)


@pytest.fixture(scope="module")
def house() -> rules.House:
    return rules.read_house(ROOT, (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))


def test_the_table_of_floors_is_read(house: rules.House) -> None:
    assert house.floors["onemodel.errors"] == 0
    assert house.floors["onemodel.symbolic.context"] > house.floors["onemodel.symbolic"]
    assert house.floors["onemodel_widgets"] > house.floors["onemodel_widgets.views"]
    assert len(house.modules) > 10


@pytest.mark.parametrize(
    "rule",
    [
        rules.every_package_has_a_floor,
        rules.downward_only,
        rules.columns_stay_apart,
        rules.no_circles,
        rules.imports_stand_at_the_top,
        rules.views_are_plain,
    ],
    ids=lambda rule: rule.__name__,
)
def test_the_tree_obeys(rule: Callable[[rules.House], list[str]], house: rules.House) -> None:
    violations = rule(house)
    assert not violations, "\n".join(violations)


def test_files_are_short(house: rules.House) -> None:
    violations = rules.files_are_short(house, LONG_FILES)
    assert not violations, "\n".join(violations)


def test_functions_are_short(house: rules.House) -> None:
    violations = rules.functions_are_short(house, LONG_FUNCTIONS)
    assert not violations, "\n".join(violations)


def test_every_allowance_is_needed_and_has_a_reason(house: rules.House) -> None:
    assert not rules.allowances_are_needed(house, LONG_FILES, LONG_FUNCTIONS)
    assert all((*LONG_FILES.values(), *LONG_FUNCTIONS.values()))


def test_importing_the_package_loads_only_numpy_and_the_eager_column() -> None:
    code = f"""
import sys
sys.path[:0] = {[str(ROOT), str(ROOT / "widgets")]!r}
before = set(sys.modules)
import onemodel
heavy = [name for name in {NOT_LOADED!r} if name in sys.modules and name not in before]
graph = [name for name in sys.modules
         if name.split(".")[:1] == ["onemodel"] and name in {sorted(rules.COLUMNS["graph"])!r}]
print(heavy + graph)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
