"""Exact kernels beside the fast ones: which there are, their attributes, their values."""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from onemodel import kernels
from onemodel.kernels import _table
from tests.kernels.single_node import NoKernelError, run_model
from tests.kernels.test_backend_data import _cases, _compare, _data_sets
from tests.kernels.test_table import _schemas

PAGE = Path(__file__).parents[2] / "docs" / "exact.md"


def modules() -> list[Any]:
    """Every kernel module of the folder."""
    found = pkgutil.iter_modules(kernels.__path__)
    names = [item.name for item in found if item.name[0] != "_" and not item.ispkg]
    return [import_module(f"onemodel.kernels.{name}") for name in names]


def label(module: Any) -> str:
    domain = getattr(module, "DOMAIN", "")
    return f"{domain}::{module.NODE_TYPE}" if domain else module.NODE_TYPE


def test_the_page_names_what_has_no_exact_kernel() -> None:
    missing = {label(module) for module in modules() if not hasattr(module, "EXACT")}
    listed = PAGE.read_text().partition("## Without an exact kernel")[2].partition("\n## ")[0]
    assert set(re.findall(r"`([\w.:]+)`", listed)) == missing


@pytest.mark.parametrize("module", modules(), ids=label)
def test_exact_versions_are_those_of_the_fast_kernel(module: Any) -> None:
    exact = getattr(module, "EXACT", None)
    if exact is None:
        return
    assert min(exact) == min(module.VERSIONS), "no version is left out at the lower end"
    assert set(exact) <= set(module.VERSIONS)


@pytest.mark.parametrize("schema", _schemas(), ids=lambda s: f"{s.name}-{s.since_version}")
def test_an_exact_kernel_takes_the_attributes_of_its_version(schema: onnx.defs.OpSchema) -> None:
    kernel = _table.find(schema.name, schema.since_version, schema.domain, exact=True)
    fast = _table.find(schema.name, schema.since_version, schema.domain)
    if kernel is None or kernel is fast:
        return
    assert fast is not None
    given = inspect.signature(kernel).parameters
    for name, parameter in inspect.signature(fast).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            assert name in given
            assert given[name].default == parameter.default


@pytest.fixture(scope="module")
def judged() -> set[str]:
    """Cases that were computed by exact kernels."""
    return set()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
def test_exact_kernels_give_the_values_of_the_standard(case: Any, judged: set[str]) -> None:
    for inputs, outputs in _data_sets(case):
        try:
            results = run_model(case.model, inputs, exact=True)
        except NoKernelError as error:
            assert _without(str(error).rpartition("::")[2])
            return
        for got, expected in zip(results, outputs, strict=True):
            # The standard's half precision rounds after every step, exact kernels round once.
            half = getattr(expected, "dtype", None) == np.float16
            _compare(got, expected, max(case.rtol, 2.0**-9 * half), case.atol)
        judged.add(case.name)


def _without(node_type: str) -> bool:
    return all(_table.find(node_type, opset, exact=True) is None for opset in (1, 13, 28))


def test_a_row_of_a_batch_has_the_bits_of_its_own() -> None:
    """What fast kernels do not promise: BLAS adds a batch in another order than a row."""
    x = np.random.default_rng(0).standard_normal((50, 300)).astype(np.float32)
    w = np.random.default_rng(1).standard_normal((300, 40)).astype(np.float32)
    kernel = _table.find("MatMul", 20, exact=True)
    assert kernel is not None
    np.testing.assert_array_equal(kernel(x, w)[7:8], kernel(x[7:8], w))
