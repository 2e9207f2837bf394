"""The bits of the exact functions: the same here as in the hashes below, whatever the processor.

A hash that changes is a change of results, which users of exact mode were promised not to see:
it belongs into CHANGELOG.md, and ``python -m tests.kernels.exact_samples`` prints the new ones.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.kernels import exact_samples

ROOT = Path(__file__).resolve().parents[2]

HASHES = {
    "exp": "c9b4d72c8059153f324d022e1114fcc1771c8e17bf686829e9037ffd3b6759f6",
    "expm1": "7a052d1f3db7ac9ab5e2f56fbb066ad724d9d4931c5473abcb34ddff8f9e0d06",
    "log": "d495cd0ef229ce37750fa1a332590ac65c2875a562af65a7da17cfbb32eac885",
    "log1p": "eef3f78b487499cb280c5e08d02c88b7ff63168aff2f93b328a5b791067e3cee",
    "sin": "1e02fdca9922bf355bae1054f1cddae77ba0624eee1d8b41deb40a11772a058c",
    "cos": "9518f2eccaa71c84a8ad10b801676b7636bf80cd49966505e6f82657c39d5762",
    "tan": "aa77e2d2192c15aa076080cf97cf1a28342a669a0010008449e4e4220a97a6ba",
    "asin": "aafd9d1d1c60353b82c3904b77dc04f05fe8a4b9f6d6bd7cfde6be5e48a0070f",
    "acos": "16fa1f0a1d804af41087d062eaf7ae69023efb668dd3a70b4752eb7a79b4c096",
    "atan": "622b0d554dfba33f73bcc68fbe4a2b83bfac19e67c0a5e3b5cf083d794ec2995",
    "sinh": "299ded13e9fb3c3d7e1e72b0be7250e6773b8804f19ded5a096d0639b728e00e",
    "cosh": "9a3ca26d9d6e9e9be64024d144783fb71bd1c6e5412e9d7ddfffd95bb01d9e3a",
    "tanh": "a84c30d39095075cc7b41bff38243a3b232dd0b5ead5fb2835ac94d5fb7be000",
    "asinh": "08e605337f5fdd70bd3c7bc8202b205719d6602ab128d8d00c0cfda7be5973b9",
    "acosh": "c98372bd1af07b232453b61f45d0f3143a2fdf9412e06fe6e7313c02511aed01",
    "atanh": "dbeff61eb2ced7b627202ee984e5c05e635cd1f13d39abcdca47a289f908fd02",
    "erf": "c9d93035c9bf69d8980efc1a86e1627220b9fdc0e896cadc4e30ba8e28b6bf13",
    "sigmoid": "77d3876bac4dcb6060796e28bb026779d29dff1272154391bcfcea9973579932",
    "softplus": "7feb3ee8001eca8402f39650c55e02596eab14b2439dbf658b390e46b18163fa",
    "gelu": "ea70633da74a41444604e1634df43436b9806339f4e27f7fb42952635f9e7df8",
    "gelu_tanh": "f62470ed2a98ff75563ba401e0d6344e7d2c2740c150d16517337e136da04a20",
    "elu": "7f196d000f09606535b9b7dcbbb51c780be20a8c2e2f5233bf3b1585738c2860",
    "selu": "a15b31e4fe9680b99d568dd3b781dceb68b3cd64ee323548606e85033a9d2a26",
    "celu": "2069a36b5c071d3f89048e6c08a182dbfa63261ff406a27fc84650d29821718e",
    "mish": "1bda1dbc02e122e6c492dff63ee0f1a50d7f79aa166fc1820773a19e8b0ffd1b",
    "swish": "10d315b39fe17b6930dfaeafa51f9ce120df4a465fc003205084d0ce88402f1d",
    "pow": "1e86cbdc4381df4e12090b3ebfffcd4586c49697cd0c8b44a26ebe67829c8ea1",
    "pow_signed": "0993b4874e13d083e8645daba635548d2c1558932872bf48279241b50ba9ee13",
    "pow_short": "a21f7f7658c68fa1d27dd4d12064ae6209addc01f6e2744d490f8d46658307ed",
    "swi_glu": "6b464329c22eebe29911c09e20126690f5de9f2a286257b78313d5b55e097b0e",
}


def _optional_features() -> list[str]:
    """What this NumPy chooses between at run time and this processor has, lowest first."""
    module = np._core._multiarray_umath if hasattr(np, "_core") else np.core._multiarray_umath
    return [name for name in module.__cpu_dispatch__ if module.__cpu_features__.get(name)]


def _run(**settings: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.exact_samples"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_results_have_the_committed_bits() -> None:
    assert exact_samples.hashes() == HASHES


@pytest.mark.parametrize("lowest", range(4))
def test_results_do_not_depend_on_the_instructions_that_numpy_chooses(lowest: int) -> None:
    features = _optional_features()
    if lowest >= len(features):
        pytest.skip(f"NumPy chooses between {len(features)} sets of instructions here")
    assert _run(NPY_DISABLE_CPU_FEATURES=" ".join(features[lowest:]))["hashes"] == HASHES


def test_results_do_not_depend_on_the_instructions_that_the_c_library_chooses() -> None:
    masked = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX512F,-AVX2_Usable,-FMA_Usable,-AVX512F_Usable"
    assert _run(GLIBC_TUNABLES=masked)["hashes"] == HASHES  # other C libraries ignore it


def test_the_settings_do_change_what_numpy_computes() -> None:
    features = _optional_features()
    if platform.machine() != "x86_64" or not features:
        pytest.skip("only x86-64 processors are known to differ here")
    less = _run(NPY_DISABLE_CPU_FEATURES=" ".join(features))
    assert less["control"] != exact_samples.control()
