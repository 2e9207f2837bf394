"""Sizes as JSON and back: integers, None, or an extent with its defining expression."""

from __future__ import annotations

from typing import Any

from onemodel.axes.extent import DERIVED, Atom, Extent
from onemodel.format.errors import MAX_DEPTH, FormatError
from onemodel.graph.ir import Dim

TOO_LARGE = 2**63
"""Sizes and coefficients are 64-bit numbers."""


def dim_to_json(dim: Dim) -> Any:
    """``3``, ``None``, or ``{"c": 2, "a": [{"s": "batch"}]}``."""
    if dim is None or isinstance(dim, int):
        return dim
    return _extent(dim)


def _extent(extent: Extent) -> dict[str, Any]:
    return {"c": extent.coefficient, "a": [_atom(atom) for atom in extent.atoms]}


def _atom(atom: Atom) -> dict[str, Any]:
    if not atom.operation:
        return {"s": atom.name}
    return {"op": atom.operation, "of": [_extent(part) for part in atom.operands]}


def dim_from_json(data: Any, place: str) -> Dim:
    """The dimension that :func:`dim_to_json` wrote. Raises FormatError."""
    if data is None:
        return data
    if isinstance(data, int) and not isinstance(data, bool):
        if not 0 <= data < TOO_LARGE:
            raise FormatError(f"the size {str(data)[:24]} is none", place=place)
        return data
    return _extent_from(data, place, 0)


def _extent_from(data: Any, place: str, depth: int) -> Extent:
    if depth > MAX_DEPTH:
        raise FormatError("a size nests too deep", place=place)
    if not isinstance(data, dict) or not isinstance(data.get("c"), int):
        raise FormatError("a size is neither a number nor an extent", place=place)
    atoms = data.get("a")
    if not isinstance(atoms, list):
        raise FormatError("an extent has no list of atoms", place=place)
    if abs(data["c"]) >= TOO_LARGE:
        raise FormatError("a coefficient is too large", place=place)
    return Extent(data["c"], tuple(_atom_from(atom, place, depth + 1) for atom in atoms))


def _atom_from(data: Any, place: str, depth: int) -> Atom:
    if isinstance(data, dict) and isinstance(data.get("s"), str):
        return Atom(data["s"])
    if isinstance(data, dict) and data.get("op") in DERIVED and isinstance(data.get("of"), list):
        parts = tuple(_extent_from(part, place, depth + 1) for part in data["of"])
        if len(parts) >= 2:
            return Atom("", data["op"], parts)
    raise FormatError("an atom is neither a symbol nor a derived extent", place=place)
