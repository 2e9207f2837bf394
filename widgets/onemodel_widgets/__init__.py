"""Interactive views of OneModel graphs, traces and refusals for notebooks.

``%load_ext onemodel_widgets`` shows a card for a refused trace by itself and a
picture for a ``TracedModel`` at the end of a cell.
"""

from __future__ import annotations

from onemodel_widgets.axes import AxesView
from onemodel_widgets.diff import DiffView
from onemodel_widgets.error import ErrorView
from onemodel_widgets.extension import (
    last_error,
    load_ipython_extension,
    unload_ipython_extension,
)
from onemodel_widgets.graph import GraphView
from onemodel_widgets.workbench import Workbench

__all__ = [
    "AxesView",
    "DiffView",
    "ErrorView",
    "GraphView",
    "Workbench",
    "last_error",
    "load_ipython_extension",
    "unload_ipython_extension",
]
