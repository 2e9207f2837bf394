"""Each rule finds a violation that is planted, and is silent on the same tree without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.layers import rules

ARCHITECTURE = (Path(__file__).resolve().parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")

SOUND = {
    "onemodel/__init__.py": "from onemodel.tensors.tensor import Tensor\n",
    "onemodel/errors.py": "import enum\n",
    "onemodel/kernels/add.py": "import numpy\n",
    "onemodel/axes/extent.py": "",
    "onemodel/tensors/tensor.py": "import onemodel.errors\nfrom onemodel.kernels import add\n",
    "onemodel/tensors/seam.py": "",
    "onemodel/operators/add.py": "from onemodel.tensors.tensor import Tensor\n",
    "onemodel/graph/ir.py": "from onemodel.axes.extent import Extent\n",
    "onemodel/symbolic/context.py": "from onemodel.graph.ir import Graph\n",
    "onemodel/symbolic/registry.py": "",
    "onemodel/session/run.py": "from onemodel.graph import ir\n",
    "onemodel/tracing/tracer.py": (
        "from onemodel.graph.ir import Graph\n"
        "from onemodel.tensors.seam import on_read\n"
        "def report():\n    import tqdm\n"
    ),
    "widgets/onemodel_widgets/graph.py": "import anywidget\nimport onemodel_widgets.views.dot\n",
    "widgets/onemodel_widgets/views/dot.py": "import graphviz\n",
    "widgets/onemodel_widgets/views/text.py": "import json\n",
}


def build(root: Path, extra: dict[str, str]) -> rules.House:
    files = dict(SOUND)
    for name, text in extra.items():
        files[name] = files.get(name, "") + text
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return rules.read_house(root, ARCHITECTURE)


FAULTS = [
    (rules.every_package_has_a_floor, "onemodel/utils.py", "X = 1\n", "onemodel.utils"),
    (
        rules.downward_only,
        "onemodel/tensors/seam.py",
        "import onemodel.tracing.tracer\n",
        "floor 1",
    ),
    (rules.downward_only, "onemodel/tensors/seam.py", "from ..tracing import tracer\n", "tracing"),
    (
        rules.downward_only,
        "onemodel/symbolic/registry.py",
        "from onemodel.graph.ir import G\n",
        "floor 1",
    ),
    (rules.downward_only, "onemodel/kernels/add.py", "from onemodel.errors import E\n", "floor 0"),
    (rules.downward_only, "onemodel/graph/ir.py", "import onemodel\n", "imports onemodel"),
    (
        rules.downward_only,
        "onemodel/tensors/seam.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from onemodel.nn import Module\n",
        "onemodel.nn",
    ),
    (
        rules.columns_stay_apart,
        "onemodel/operators/add.py",
        "from onemodel.graph import ir\n",
        "ir",
    ),
    (
        rules.columns_stay_apart,
        "onemodel/session/run.py",
        "import onemodel.tensors.tensor\n",
        "run:2",
    ),
    (
        rules.columns_stay_apart,
        "onemodel/axes/extent.py",
        "from onemodel.kernels import add\n",
        "add",
    ),
    (
        rules.no_circles,
        "onemodel/tensors/seam.py",
        "import onemodel.tensors.tensor\nX = 1\n",
        None,
    ),
    (
        rules.imports_stand_at_the_top,
        "onemodel/graph/ir.py",
        "def f():\n    from onemodel.errors import E\n",
        "in f()",
    ),
    (
        rules.imports_stand_at_the_top,
        "onemodel/graph/ir.py",
        "def f():\n    import scipy\n",
        "scipy",
    ),
    (
        rules.imports_stand_at_the_top,
        "onemodel/graph/ir.py",
        "import importlib\ndef f():\n    importlib.import_module('onemodel.errors')\n",
        "onemodel.errors",
    ),
    (
        rules.views_are_plain,
        "widgets/onemodel_widgets/views/text.py",
        "import ipywidgets as w\n",
        "ipywidgets",
    ),
    (
        rules.views_are_plain,
        "widgets/onemodel_widgets/graph.py",
        "from graphviz import Source\n",
        "graph:3",
    ),
]


@pytest.mark.parametrize(
    "rule, path, text, told", FAULTS, ids=lambda part: getattr(part, "__name__", "")
)
def test_a_planted_fault_is_told(
    rule, path: str, text: str, told: str | None, tmp_path: Path
) -> None:
    assert rule(build(tmp_path / "sound", {})) == []
    extra = {path: text}
    if rule is rules.no_circles:
        extra["onemodel/tensors/tensor.py"] = "from onemodel.tensors import seam\n"
        told = "onemodel.tensors.seam -> onemodel.tensors.tensor -> onemodel.tensors.seam"
    violations = rule(build(tmp_path / "faulty", extra))
    assert len(violations) == 1
    assert told is not None and told in violations[0]


def test_a_circle_under_type_checking_is_no_circle(tmp_path: Path) -> None:
    guarded = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import onemodel.tensors.tensor\n"
    )
    extra = {
        "onemodel/tensors/seam.py": guarded,
        "onemodel/tensors/tensor.py": "from onemodel.tensors import seam\n",
    }
    assert rules.no_circles(build(tmp_path, extra)) == []


def test_a_long_file_is_told_and_its_docstrings_are_not_counted(tmp_path: Path) -> None:
    long_text = "x = 1\n" * (rules.LONGEST_FILE + 1)
    prose = '"""' + "word\n" * 700 + '"""\n'
    house = build(tmp_path, {"onemodel/graph/ir.py": long_text, "onemodel/errors.py": prose})
    assert [text.split()[0] for text in rules.files_are_short(house, {})] == ["onemodel.graph.ir"]
    assert rules.files_are_short(house, {"onemodel.graph.ir": "planted"}) == []


def test_a_long_function_is_told_and_its_docstring_is_not_counted(tmp_path: Path) -> None:
    body = "    x = 1\n" * rules.LONGEST_FUNCTION
    prose = '    """' + "word\n    " * 70 + '"""\n'
    text = f"def long():\n{body}\n\ndef told():\n{prose}    return 1\n"
    house = build(tmp_path, {"onemodel/errors.py": text})
    assert rules.functions_are_short(house, {}) == ["onemodel.errors:2 long() has 61 lines"]
    assert rules.functions_are_short(house, {"onemodel.errors.long": "planted"}) == []


def test_an_allowance_that_allows_nothing_is_told(tmp_path: Path) -> None:
    house = build(tmp_path, {})
    told = rules.allowances_are_needed(
        house, {"onemodel.errors": "old"}, {"onemodel.errors.f": "old"}
    )
    assert told == ["onemodel.errors", "onemodel.errors.f"]
