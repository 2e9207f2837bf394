"""Lint, format and types, as tests, so that one run and one closing line say everything."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    "arguments",
    [
        ("ruff", "check", "--quiet", "--output-format=concise"),
        ("ruff", "format", "--check"),
        ("pyright", "--pythonpath", sys.executable),
    ],
    ids=["ruff check", "ruff format", "pyright"],
)
def test_nothing_to_complain_of(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
