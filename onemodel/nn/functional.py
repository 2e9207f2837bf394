"""Operators under the names of ``torch.nn.functional``.

Derived from the table of operators; an operator that appears there appears here. Methods of
modules call them as ``F.relu(x)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onemodel.operators import TABLE

globals().update({name: op.declaration for name, op in TABLE.items() if op.public})

__all__ = sorted(name for name, op in TABLE.items() if op.public)  # noqa: PLE0605

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
