"""The kernels by node type: a file in this folder is the registration."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

Kernel = Callable[..., Any]

_FOLDER = Path(__file__).parent
_PACKAGE = __name__.rpartition(".")[0]


def find(
    node_type: str,
    opset: int,
    domain: str = "",
    outputs: int | None = None,
    exact: bool = False,
) -> Kernel | None:
    """The kernel for a node type at an opset, or None where there is none.

    The newest version not above ``opset`` is taken, as ONNX resolves it.
    ``outputs=1`` says that only the first output is used; where computing the
    others costs something, a kernel that leaves them out is returned instead
    (its result is that one array, not a tuple). ``exact`` asks for the kernel whose bits
    are the same on every machine, which not every node type has.
    """
    return _find(node_type, int(opset), "" if domain == "ai.onnx" else domain, outputs == 1, exact)


def node_types(domain: str = "") -> list[str]:
    """Every node type of ``domain`` that has a kernel, sorted; imports all kernels."""
    modules = [_module(key) for key in _stems()]
    return sorted(module.NODE_TYPE for module in modules if _domain(module) == domain)


@functools.cache
def _find(node_type: str, opset: int, domain: str, first_only: bool, exact: bool) -> Kernel | None:
    key = node_type.lower()
    if key not in _stems():
        return None
    module = _module(key)
    if node_type != module.NODE_TYPE or _domain(module) != domain:
        return None
    versions: dict[int, Kernel] = getattr(module, "EXACT", {}) if exact else module.VERSIONS
    since = max((version for version in versions if version <= opset), default=None)
    if since is None:
        return None
    if first_only:
        alone = getattr(module, "EXACT_FIRST_OUTPUT" if exact else "FIRST_OUTPUT", {})
        return alone.get(since, versions[since])
    return versions[since]


def _domain(module: ModuleType) -> str:
    return getattr(module, "DOMAIN", "")


@functools.cache
def _stems() -> dict[str, str]:
    """File name without underscores (``matmul``) to file name (``mat_mul``).

    Node types differ by more than case, so a file is found without importing others.
    """
    stems = [path.stem for path in _FOLDER.glob("*.py") if not path.stem.startswith("_")]
    return {stem.replace("_", ""): stem for stem in sorted(stems)}


@functools.cache
def _module(key: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{_stems()[key]}")
