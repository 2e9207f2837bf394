"""Setting up: a stamp stands only for an install that reached its end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bootstrap

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def stamp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An old stamp in an environment of the test's own, where uv is not found."""
    venv = tmp_path / ".venv"
    venv.mkdir()
    monkeypatch.setattr(bootstrap, "VENV", str(venv))
    monkeypatch.setattr(bootstrap, "VENV_PYTHON", sys.executable)
    monkeypatch.setattr(bootstrap, "STAMP", str(venv / "installed"))
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    (venv / "installed").write_text("old\n")
    return venv / "installed"


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_install_leaves_no_stamp(
    interruption: type[BaseException], stamp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(python: str) -> None:
        raise interruption

    monkeypatch.setattr(bootstrap, "install_with_pip", stop)
    with pytest.raises(interruption):
        bootstrap.main()
    assert not stamp.exists()


def test_a_failing_pip_ends_the_script_and_leaves_no_stamp(
    stamp: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = [sys.executable, "-c", "raise SystemExit(3)"]
    monkeypatch.setattr(bootstrap, "make_venv", lambda python: failing)
    with pytest.raises(SystemExit, match="failed with status 3"):
        bootstrap.main()
    assert not stamp.exists()


def test_a_finished_install_is_stamped(stamp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stamp.unlink()
    monkeypatch.setattr(bootstrap, "install_with_pip", lambda python: None)
    monkeypatch.setattr(bootstrap, "run", lambda command, cwd=None: None)
    bootstrap.main()
    assert stamp.read_text().startswith(sys.version.split()[0])


def test_an_old_python_is_told_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 9, 1))
    monkeypatch.setattr(bootstrap.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"Python 3\.11 or newer is needed"):
        bootstrap.find_python()


def test_make_sets_up_again_when_the_project_file_is_newer_than_the_stamp(tmp_path: Path) -> None:
    # Run under `make test` itself, the outer make's flags must not reach the inner one.
    environment = {name: v for name, v in os.environ.items() if not name.startswith("MAKE")}

    def planned() -> str:
        command = ["make", "--dry-run", "--no-print-directory", "test"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout

    (tmp_path / "Makefile").write_bytes((ROOT / "Makefile").read_bytes())
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv").mkdir()
    for number, name in enumerate(["pyproject.toml", "scripts/bootstrap.py", ".venv/installed"]):
        (tmp_path / name).touch()
        _set_time(tmp_path / name, 1_000 + number)
    assert "bootstrap.py" not in planned()
    assert "pytest" in planned()
    _set_time(tmp_path / "pyproject.toml", 2_000)
    assert "bootstrap.py" in planned()
    (tmp_path / ".venv/installed").unlink()
    assert "bootstrap.py" in planned()


def _set_time(path: Path, seconds: int) -> None:
    os.utime(path, (seconds, seconds))
