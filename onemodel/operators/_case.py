"""What the shared suite runs for one operator: shapes with symbols, attributes, a reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

ShapeSpec: TypeAlias = "tuple[int | str, ...]"


@dataclass(frozen=True)
class In:
    """One tensor input of a case.

    ``shape`` holds ints and symbol names (``("batch", 3)``); the suite chooses their sizes and
    traces them as symbolic axes. Values are drawn from ``low`` to ``high`` (uniform) unless
    ``values`` gives them: a function of (generator, concrete shape) -> array. ``constant``
    inputs (weights) are not inputs of the traced function.
    """

    shape: ShapeSpec
    dtype: str = "float32"
    low: float = -2.0
    high: float = 2.0
    values: Callable[..., Any] | None = None
    constant: bool = False
    gradient: bool = True


@dataclass(frozen=True)
class Case:
    """One row of an operator's table of cases.

    ``inputs``: shapes (float32, uniform in [-2, 2]) or :class:`In`. ``attributes``: keyword
    arguments of the declaration. ``reference``: arrays and attributes -> expected array(s), by
    an independent formula (NumPy or SciPy in float64 where it can). ``call`` replaces the plain
    ``declaration(*inputs, **attributes)`` where inputs go into a list. ``gradient``: compare
    with central differences in float64. ``trace``: lower and run the graph; False only for
    operators that refuse to be traced. ``lowest``: lowest opset that can express this case.
    """

    inputs: tuple[ShapeSpec | In, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    reference: Callable[..., Any] | None = None
    call: Callable[..., Any] | None = None
    tolerance: float = 1e-5
    gradient: bool = True
    trace: bool = True
    lowest: int = 7
    name: str = ""

    def specs(self) -> tuple[In, ...]:
        """The inputs, all as :class:`In`."""
        return tuple(spec if isinstance(spec, In) else In(spec) for spec in self.inputs)
