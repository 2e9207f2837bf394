"""The generated pages of docs/ are what the code says now, and lead where they point."""

from __future__ import annotations

import re
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from onemodel.codes import CODES
from onemodel.errors import TraceErrorKind, TraceException

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    spec = spec_from_file_location("build_docs", ROOT / "scripts" / "build_docs.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["build_docs"] = module
    spec.loader.exec_module(module)
    return module


BUILD = _load()


@pytest.mark.parametrize("page", BUILD.PAGES)
def test_the_committed_page_is_what_the_script_writes(page: str):
    committed = (BUILD.DOCS / page).read_text(encoding="utf-8")
    assert committed == BUILD.PAGES[page](), "run: python scripts/build_docs.py"


def test_check_tells_a_page_that_lags_behind(tmp_path: Path, monkeypatch, capsys):
    monkeypatch.setattr(BUILD, "DOCS", tmp_path)
    monkeypatch.setattr(BUILD, "PAGES", {"page.md": lambda: "now\n"})
    (tmp_path / "page.md").write_text("before\n", encoding="utf-8")
    assert BUILD.main(["--check"]) == 1
    assert "-before" in capsys.readouterr().out
    assert (tmp_path / "page.md").read_text(encoding="utf-8") == "before\n"
    assert BUILD.main(["page.md"]) == 0
    assert BUILD.main(["--check"]) == 0


def test_an_unknown_page_is_an_error_that_names_those_there_are(capsys):
    with pytest.raises(SystemExit):
        BUILD.main(["nowhere.md"])
    assert "limits.md" in capsys.readouterr().err


def test_every_code_has_the_section_that_its_refusal_names():
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    named = [TraceException(TraceErrorKind.INVALID_USAGE, code, "", "").docs for code in CODES]
    assert anchors == named
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(anchors)


def test_the_page_holds_no_path_of_the_machine_it_was_made_on():
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    assert str(ROOT) not in text and "0x" not in text and "site-packages" not in text
