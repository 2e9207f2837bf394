"""How sizes are written: ``2*batch*width``, ``ceil(width/2) + 1``, ``batch % 3``.

Works on extents and atoms by their attributes and operators, so that this module stands below
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

MAX_TEXT = 200
"""Longest ``str`` of an extent; what is longer is cut with an ellipsis."""


def cut(text: str) -> str:
    """``text``, no longer than :data:`MAX_TEXT`."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3]}..."


def atom_text(atom: Any) -> str:
    """The text of one atom, of any length."""
    if not atom.operation:
        return atom.name
    if atom.operation == "sum":
        return _sum_text(atom.operands)
    if atom.operation in ("max", "min"):
        return f"{atom.operation}({', '.join(map(extent_text, atom.operands))})"
    dividend, divisor = atom.operands
    word = "floor"
    if divisor.is_static and dividend.terms.get(()) == divisor.coefficient - 1:
        word, dividend = "ceil", dividend - (divisor.coefficient - 1)
    return f"{word}({_factor_text(dividend)}/{_factor_text(divisor, tight=True)})"


def _sum_text(operands: Sequence[Any]) -> str:
    """``batch - 1``; ``batch % 3`` for ``batch - 3*floor(batch/3)``."""
    text = _mod_text(operands) or _shifted_floor_text(operands)
    if text:
        return text
    if operands[0].coefficient < 0 < operands[-1].coefficient:
        operands = (operands[-1], *operands[:-1])
    text = extent_text(operands[0])
    for operand in operands[1:]:
        text += f" - {extent_text(-operand)}" if operand.coefficient < 0 else f" + {operand}"
        if len(text) > MAX_TEXT:
            break
    return text


def _mod_text(operands: Sequence[Any]) -> str:
    for operand in operands:
        divisions = [atom for atom in operand.atoms if atom.operation == "floordiv"]
        if len(divisions) != 1 or operand.coefficient > 0:
            continue
        dividend, divisor = divisions[0].operands
        rest = sum(other for other in operands if other is not operand)
        if operand == dividend // divisor * -divisor and rest == dividend:
            return f"{_factor_text(dividend)} % {_factor_text(divisor, tight=True)}"
    return ""


def _shifted_floor_text(operands: Sequence[Any]) -> str:
    """``floor((width - 1)/2)`` for ``floor((width + 1)/2) - 1``."""
    if len(operands) != 2 or not operands[0].is_atom or not operands[1].is_static:
        return ""
    atom, shift = operands[0].atoms[0], operands[1].coefficient
    if atom.operation != "floordiv" or not atom.operands[1].is_static or shift > 0:
        return ""
    dividend, divisor = atom.operands
    return f"floor({_factor_text(dividend + shift * divisor)}/{divisor})"


def _factor_text(extent: Any, tight: bool = False) -> str:
    """The text of an extent inside a product (``tight``: as a divisor)."""
    text = extent_text(extent)
    loose = not extent.is_static and (tight or " " in text) and not _is_call(extent)
    return f"({text})" if loose and not (tight and extent.is_atom and " " not in text) else text


def _is_call(extent: Any) -> bool:
    return extent.is_atom and extent.atoms[0].operation in ("floordiv", "max", "min")


def extent_text(extent: Any) -> str:
    """The text of an extent, of any length."""
    if not extent.atoms:
        return str(extent.coefficient)
    if len(extent.atoms) == 1 and extent.atoms[0].operation == "sum":
        if extent.coefficient == 1:
            return atom_text(extent.atoms[0])
        if extent.coefficient == -1:
            return _sum_text([-operand for operand in extent.atoms[0].operands])
    parts = [] if abs(extent.coefficient) == 1 else [str(abs(extent.coefficient))]
    for atom in extent.atoms:
        text = atom_text(atom)
        parts.append(f"({text})" if atom.operation == "sum" else text)
    return ("-" if extent.coefficient < 0 else "") + "*".join(parts)
