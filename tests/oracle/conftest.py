"""Counts at the end of a run beside PyTorch: what was compared, and how often."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

FOLDER = "tests/oracle/"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One line per test function: how many of its cases passed, and of how many operators."""
    passed: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.stats.get("passed", []):
        path, _, name = report.nodeid.partition("::")
        if path.startswith(FOLDER):
            function, _, case = name.partition("[")
            passed[f"{path.removeprefix(FOLDER)} {function}"].append(case.rstrip("]"))
    if not passed:
        return
    terminalreporter.section("compared with PyTorch")
    for test, cases in passed.items():
        subjects = {_subject(case) for case in cases}
        terminalreporter.line(f"{test}: {len(cases)} passed, {len(subjects)} subjects")


def _subject(case: str) -> str:
    """The operator, module or optimiser of a case: ``traced-relu-empty`` is of ``relu``."""
    case = re.sub(
        r"^(one element|none|one|other|training|evaluation|SGD|Adam|float32|int64|uint8)-", "", case
    )
    return re.split(r"[-(]", case)[0]
