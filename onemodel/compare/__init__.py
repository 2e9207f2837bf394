"""Engines side by side: every value of a graph, and where a difference begins."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from onemodel.compare.classes import Difference, DifferenceClass, difference
from onemodel.compare.comparison import compare
from onemodel.compare.report import Report, Row
from onemodel.compare.repro import save_repro

__all__ = ["Difference", "DifferenceClass", "Report", "Row", "compare", "difference", "save_repro"]


class _Callable(ModuleType):
    """``om.compare`` is this package and the function of its name; either spelling works."""

    def __call__(self, *args: Any, **kwargs: Any) -> Report:
        return compare(*args, **kwargs)


sys.modules[__name__].__class__ = _Callable
