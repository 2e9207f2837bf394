"""The wheel holds what the source tree holds, and works without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"onemodel": ROOT / "onemodel", "onemodel_widgets": ROOT / "widgets/onemodel_widgets"}

# Run with the wheel's folder first on the path and the source tree nowhere on it. An editable
# install puts the tree there through a .pth file, hence the explicit removal.
PROBE = """
import importlib.util, json, sys
target, root = sys.argv[1:3]
sys.path[:] = [target] + [p for p in sys.path if p and not p.startswith(root)
                          or "site-packages" in p]
import onemodel, onemodel_widgets
def found(name):
    spec = importlib.util.find_spec(name)
    places = list(spec.submodule_search_locations or []) if spec else []
    return any(place.startswith((target, root)) and "site-packages" not in place
               for place in places)
print(json.dumps({
    "files": [onemodel.__file__, onemodel_widgets.__file__],
    "version": onemodel.__version__,
    "strays": [n for n in ("tests", "widgets", "notebooks", "examples", "scripts") if found(n)],
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    _run("-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT), cwd=out)
    (built,) = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    pip = ("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile")
    if _has_pip():
        _run(*pip, "--target", str(target), str(wheel), cwd=target)
    else:  # an environment that uv made has no pip; a pure wheel is its files
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(target)
    return target


def _has_pip() -> bool:
    command = [sys.executable, "-m", "pip", "--version"]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode == 0


def _run(*arguments: str, cwd: Path) -> str:
    environment = {name: v for name, v in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_both_packages_import_from_the_installed_wheel_alone(installed: Path) -> None:
    told = json.loads(_run("-c", PROBE, str(installed), str(ROOT), cwd=installed))
    assert all(file.startswith(str(installed)) for file in told["files"])
    assert told["strays"] == []
    assert f"onemodel_workbench-{told['version']}.dist-info" in os.listdir(installed)


def test_every_tracked_file_of_both_packages_is_in_the_wheel(installed: Path) -> None:
    missing = [
        f"{package}/{path.relative_to(source)}"
        for package, source in PACKAGES.items()
        for path in source.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and not (installed / package / path.relative_to(source)).is_file()
    ]
    assert missing == []
    for package in PACKAGES:
        assert (installed / package / "py.typed").is_file()


def test_the_front_end_is_in_the_wheel(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    front_end = [name for name in names if name.startswith("onemodel_widgets/static/")]
    assert any(name.endswith(".js") for name in front_end)
    assert any(name.endswith(".css") for name in front_end)


def test_the_wheel_installs_nothing_beside_the_two_packages(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == set(PACKAGES)
    assert any(name.endswith("licenses/LICENSE") for name in names)
