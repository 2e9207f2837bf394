"""Exact sessions have the same bits under every processor, BLAS kernel and number of threads.

This machine's processor can be told to be a lesser one: NumPy by NPY_DISABLE_CPU_FEATURES,
OpenBLAS by OPENBLAS_CORETYPE, glibc by GLIBC_TUNABLES. Each setting runs all programs in a
process of its own and has to meet the hashes in the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.exact import programs

ROOT = Path(__file__).parents[2]

_NO_VECTORS = {
    # Names that this NumPy does not know are a warning to it.
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR X86_V3",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-AVX2_Usable,-FMA,-FMA_Usable,-AVX512F",
}
SETTINGS: dict[str, dict[str, str]] = {
    "as it is": {},
    "one thread": {"OPENBLAS_NUM_THREADS": "1"},
    "two threads": {"OPENBLAS_NUM_THREADS": "2"},
    "BLAS for Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "BLAS for Sandybridge": {"OPENBLAS_CORETYPE": "Sandybridge", "OPENBLAS_NUM_THREADS": "2"},
    "an old processor": {"OPENBLAS_CORETYPE": "Prescott", **_NO_VECTORS},
    "no AVX-512": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
}
OURS = ("OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE", "OMP_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES")


def hashes(setting: dict[str, str]) -> dict[str, str]:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.exact.programs"],
        cwd=ROOT,
        env=environment | setting,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_gives_the_hashes_of_the_repository(setting: dict[str, str]) -> None:
    wanted = json.loads(programs.HASHES.read_text())
    found = hashes(setting)
    assert found.keys() == wanted.keys()
    different = [name for name in wanted if found[name] != wanted[name]]
    assert not different, "renew them by `python -m tests.exact.programs --write` if meant"


def test_fast_sessions_would_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same programs by the fast kernels: another machine's bits are not ours."""
    wanted = json.loads(programs.HASHES.read_text())
    session = programs.Session
    monkeypatch.setattr(programs, "Session", lambda model, mode: session(model))
    found = {program.name: programs.digest(program) for program in programs.products()}
    assert sum(found[name] != wanted[name] for name in found) > len(found) / 2
