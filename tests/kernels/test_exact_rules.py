"""Exact mode by reading: nothing that differs between machines is called."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from tests.kernels.exact_rules import KERNELS, differing, functions_of_exact_mode, not_allowed

DECLARED = [path for path in sorted(KERNELS.glob("[a-z]*.py")) if "\nEXACT = " in path.read_text()]
AS_THEY_ARE = [path for path in DECLARED if "\nEXACT = VERSIONS\n" in path.read_text()]


def _stem(path: Path) -> str:
    return path.stem


@pytest.mark.parametrize("path", functions_of_exact_mode(), ids=_stem)
def test_exact_functions_use_correctly_rounded_operations_only(path: Path) -> None:
    assert not not_allowed(path.read_text())


def test_all_parts_of_the_exact_functions_are_read() -> None:
    read = {path.stem for path in functions_of_exact_mode()}
    assert {"exp", "log", "pow", "arcs", "erf"} <= read
    assert {"trigonometry", "activations", "blocks"} <= read


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("np.exp(x, out=out)", "np.exp"),
        ("np.dot(x, x)", "np.dot"),
        ("np.argsort(x)", "np.argsort"),
        ("out[...] = x @ x", "a matrix product"),
        ("out[...] = x**0.5", "a power"),
        ("x **= 2", "a power"),
        ("total = x.sum()", "the method sum"),
        ("total = sum(x.tolist())", "sum()"),
        ("y = math.sin(0.5)", "math.sin"),
        ("np.maximum(x, 0.0, out=out)", "what may be a zero"),
        ("np.minimum(x, y, out=out)", "what may be a zero"),
        ("np.maximum(x, ZERO, out=out)", "what may be a zero"),
    ],
)
def test_a_planted_fault_is_found(line: str, complaint: str) -> None:
    source = f"ZERO = 0.0\nHIGH = 2.0**70\ndef core(x, y, out, rows):\n    {line}\n"
    found = not_allowed(source)
    assert len(found) == 1
    assert complaint in found[0]
    assert found[0].startswith("line 4")
    assert not not_allowed(source.replace(line, "np.maximum(x, -HIGH, out=out)"))


@pytest.mark.parametrize("path", AS_THEY_ARE, ids=_stem)
def test_a_kernel_that_is_exact_as_it_is_calls_nothing_that_differs(path: Path) -> None:
    assert not differing(path.read_text())


def test_a_planted_fault_in_a_kernel_is_found() -> None:
    source = "def fast(x):\n    return np.tanh(x)[np.argsort(x)] @ np.argsort(x, kind='stable')\n"
    assert sorted(found.split(": ")[1] for found in differing(source)) == [
        "a matrix product",
        "np.argsort",
        "np.tanh",
    ]


@pytest.mark.parametrize("path", DECLARED, ids=_stem)
def test_exact_kernels_have_the_versions_and_signatures_of_the_fast_ones(path: Path) -> None:
    module = importlib.import_module(f"onemodel.kernels.{path.stem}")
    pairs = [(module.EXACT, module.VERSIONS)]
    if hasattr(module, "EXACT_FIRST_OUTPUT"):
        pairs.append((module.EXACT_FIRST_OUTPUT, module.FIRST_OUTPUT))
    for exact, fast in pairs:
        assert list(exact) == list(fast)
        for since, kernel in exact.items():
            assert inspect.signature(kernel) == inspect.signature(fast[since])
