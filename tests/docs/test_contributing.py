"""The walk-through of an operator shows the real file, and one file is all it takes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAME = "gelu"

PROBE = f"""
import json
import onemodel as om
from onemodel.operators import TABLE
print(json.dumps({{
    "where": om.__file__,
    "operators": sorted(TABLE),
    "function": hasattr(om, "{NAME}"),
    "method": hasattr(om.Tensor, "{NAME}"),
    "listed": "{NAME}" in om.__all__,
}}))
"""


def excerpts() -> list[str]:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split("## Adding an operator")[1].split("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("excerpt", excerpts(), ids=lambda text: text.split("\n")[0].strip()[:40])
def test_the_walk_through_quotes_the_real_file(excerpt: str) -> None:
    assert excerpt in (ROOT / f"onemodel/operators/{NAME}.py").read_text(encoding="utf-8")


def test_one_file_makes_an_operator_appear_and_nothing_else_changes(tmp_path: Path) -> None:
    source = ROOT / "onemodel"
    shutil.copytree(source, tmp_path / "onemodel", ignore=shutil.ignore_patterns("__pycache__"))
    file = tmp_path / f"onemodel/operators/{NAME}.py"
    file.unlink()
    without = probe(tmp_path)
    file.write_bytes((source / f"operators/{NAME}.py").read_bytes())
    with_it = probe(tmp_path)
    assert not (without["function"] or without["method"] or without["listed"])
    assert with_it["function"] and with_it["method"] and with_it["listed"]
    assert set(with_it["operators"]) - set(without["operators"]) == {NAME}


def probe(root: Path) -> dict[str, Any]:
    """What the copy of the package in ``root`` offers."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["where"].startswith(str(root))
    return told
