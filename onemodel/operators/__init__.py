"""Every operator, found by listing this folder; one file is one operator's life.

Dropping ``operators/<name>.py`` with an ``OPERATOR`` in it is the registration: the table, the
methods of Tensor, ``om.<name>`` and the tests follow from it.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import Any

from onemodel.operators._inplace import in_place
from onemodel.operators._operator import Composite, Operator
from onemodel.tensors import tensor as _tensor_module
from onemodel.tensors.tensor import Tensor

TABLE: dict[str, Operator | Composite] = {}
"""Operators by name, in alphabetical order."""


def _discover() -> None:
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda found: found.name):
        if info.name.startswith("_"):
            continue
        module = import_module(f"{__name__}.{info.name}")
        register(module.OPERATOR)
        for extra in getattr(module, "ALSO", ()):
            register(extra)


def register(operator: Operator | Composite) -> None:
    """Put an operator into the table and its methods onto Tensor.

    Raises ValueError where the name or a method is taken.
    """
    if operator.name in TABLE:
        raise ValueError(f"an operator named {operator.name!r} exists")
    TABLE[operator.name] = operator
    for name in operator.methods:
        _attach(name, operator.declaration)
    for name in operator.reflected:
        _attach(name, _swapped(operator.declaration, name))
    for name in operator.inplace:
        _attach(name, in_place(operator.declaration, name))
    if operator.ufunc:
        _tensor_module._UFUNCS[operator.ufunc] = operator.declaration


def _attach(name: str, function: Callable[..., Any]) -> None:
    # __eq__ and __ne__ stand on object; anything else must be free.
    if name in Tensor.__dict__ and name not in ("__eq__", "__ne__"):
        raise ValueError(f"Tensor.{name} is taken")
    setattr(Tensor, name, function)


def _swapped(declaration: Callable[..., Any], name: str) -> Callable[..., Any]:
    def reflected(self: Tensor, other: Any) -> Any:
        return declaration(other, self)

    reflected.__name__ = reflected.__qualname__ = name
    return reflected


_discover()

__all__ = sorted(TABLE)


def __getattr__(name: str) -> Any:
    try:
        return TABLE[name].declaration
    except KeyError:
        raise AttributeError(f"there is no operator named {name!r}") from None
