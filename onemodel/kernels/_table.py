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


def find(node_type: str, opset: int, domain: str = "", outputs: int | None = None) -> Kernel | None:
    """The kernel for a node type at an opset, or None where there is none.

    The newest version not above ``opset`` is taken, as ONNX resolves it.
    ``outputs=1`` says that only the first output is used; where computing the
    others costs something, a kernel that leaves them out is returned instead
    (its result is that one array, not a tuple).
    """
    return _find(node_type, int(opset), "" if domain == "ai.onnx" else domain, outputs == 1)


def node_types(domain: str = "") -> list[str]:
    """Every node type of ``domain`` that has a kernel, sorted."""
    return sorted(name for found, name in _modules() if found == domain)


@functools.cache
def _find(node_type: str, opset: int, domain: str, first_only: bool) -> Kernel | None:
    module = _modules().get((domain, node_type))
    if module is None:
        return None
    versions: dict[int, Kernel] = module.VERSIONS
    since = max((version for version in versions if version <= opset), default=None)
    if since is None:
        return None
    if first_only:
        return getattr(module, "FIRST_OUTPUT", {}).get(since, versions[since])
    return versions[since]


@functools.cache
def _modules() -> dict[tuple[str, str], ModuleType]:
    """(domain, node type) to module, for every file without a leading underscore."""
    found = {}
    for path in sorted(_FOLDER.glob("*.py")):
        if not path.name.startswith("_"):
            module = importlib.import_module(f"{_PACKAGE}.{path.stem}")
            found[getattr(module, "DOMAIN", ""), module.NODE_TYPE] = module
    return found
