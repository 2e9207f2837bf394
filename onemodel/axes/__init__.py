"""Algebra of symbolic sizes: no arrays, no tracing.

:mod:`extent` holds sizes as coefficient times atoms, :mod:`size` the integers that user code meets,
:mod:`rules` how operators turn axes into axes.
"""

from onemodel.axes.extent import Atom, Axes, AxesError, Extent, as_extent, axes_text
from onemodel.axes.size import Size, SizeEvent

__all__ = [
    "Atom",
    "Axes",
    "AxesError",
    "Extent",
    "Size",
    "SizeEvent",
    "as_extent",
    "axes_text",
]
