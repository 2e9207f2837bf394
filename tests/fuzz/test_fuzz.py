"""A sample of broken files: every one is refused clearly, or accepted and whole."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    spec = spec_from_file_location("fuzz", ROOT / "scripts" / "fuzz.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["fuzz"] = module
    spec.loader.exec_module(module)
    return module


FUZZ = _load()


@pytest.mark.parametrize("kind", sorted(FUZZ.KINDS))
def test_no_broken_file_crashes_hangs_or_fills_the_memory(kind: str) -> None:
    counts, findings = FUZZ.run(kind, 0, 300)
    assert findings == []
    assert counts["refused"] + counts["accepted"] == 300
    assert counts["refused"] > 100, "the cases are broken, most of them"


def test_cases_are_the_same_on_every_run() -> None:
    for kind in FUZZ.KINDS:
        assert FUZZ.case(kind, 7) == FUZZ.case(kind, 7)


def test_valid_files_are_accepted() -> None:
    for data in FUZZ.onnx_files():
        assert FUZZ.attempt("onnx", data) == "accepted"
    for data in FUZZ.om_files():
        assert FUZZ.attempt("om", data) == "accepted"


@pytest.mark.parametrize(
    "misbehave",
    [lambda data: {}[data], lambda data: FUZZ.time.sleep(60), lambda data: bytearray(3 << 30)],
    ids=["crash", "hang", "memory"],
)
def test_the_limits_are_real(
    misbehave: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FUZZ, "SECONDS", 0.5)
    monkeypatch.setattr(FUZZ, "read_onnx", misbehave)
    _, findings = FUZZ.run("onnx", 0, 1)
    assert len(findings) == 1
