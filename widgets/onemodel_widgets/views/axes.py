"""Values and their axes: a chip per axis, a colour per atom, owners, what was fixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from onemodel.axes.extent import Atom, AxesError, Extent
from onemodel.graph.ir import Graph, Value
from onemodel_widgets.views import page, places, sheet, text
from onemodel_widgets.views.memory import Memory, bytes_text, memory_of, value_bytes
from onemodel_widgets.views.names import clean, node_keys, shorten

MAX_ROWS = 300
COLOURS = 8
_INKS = (
    "#0072b2", "#d55e00", "#009e73", "#b0479b", "#a97a00", "#3d9fd6", "#7b5cc4", "#6e7781"
)  # fmt: skip
"""The style sheet's ``om-atom-0`` to ``om-atom-7``, for the picture, which has no style sheet."""

_PLAIN_INK = "#8a93a0"


@dataclass(frozen=True)
class AtomFacts:
    """One atom: a declared symbol, or a derived size with its expression and first owner."""

    index: int
    text: str
    declared: bool
    owner: str
    example: int | None
    axes: int


@dataclass(frozen=True)
class Chip:
    """One axis: its extent, atoms it carries (indices, nested symbols last), a concrete size."""

    text: str
    atoms: tuple[int, ...]
    size: int | None


@dataclass(frozen=True)
class ValueAxes:
    """One value with its axes. ``node`` is the key of its producer, "" for an input.

    ``bytes`` is None where a size or the dtype is not known.
    """

    name: str
    node: str
    operator: str
    dtype: str
    chips: tuple[Chip, ...] | None
    place: str
    bytes: int | None = None


@dataclass(frozen=True)
class Fixed:
    """A size that was consumed as a number: what the graph holds it fixed at, and where."""

    extent: str
    operation: str
    value: str
    place: str
    expression: str
    message: str


@dataclass(frozen=True)
class AxesData:
    """The axes of a whole graph at given sizes of its symbols."""

    name: str
    atoms: tuple[AtomFacts, ...]
    rows: tuple[ValueAxes, ...]
    fixed: tuple[Fixed, ...]
    sizes: tuple[tuple[str, int], ...]
    memory: Memory
    left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form."""
        return asdict(self)

    def to_text(self) -> str:
        """The axes as plain text."""
        return "\n".join(_text_lines(self))

    def to_svg(self) -> str:
        """The axes as a picture: atoms, and the first values with a chip per axis."""
        return _sheet(self)

    def to_html(self) -> str:
        """The axes as a static fragment; hovering an atom needs no script."""
        return page.fragment("axes", axes_body(self), "Axes")


def axes_data(
    graph: Graph,
    symbols: Mapping[str, int] | None = None,
    specialisations: Iterable[Any] = (),
) -> AxesData:
    """Reads the axes of every value that has some; ``symbols`` gives sizes for the numbers."""
    sizes = dict(symbols or {})
    keys = node_keys(graph)
    index: dict[Atom, int] = {}
    owners: dict[Atom, str] = {}
    counts: dict[Atom, int] = {}
    rows = []
    shown = [v for v in graph.values() if v not in graph.initializers]
    for value in shown:
        chips = _chips(value, sizes, index, owners, counts)
        if len(rows) < MAX_ROWS:
            producer = value.producer
            site = places.site_of(producer) if producer is not None else None
            rows.append(
                ValueAxes(
                    name=shorten(value.name, 80),
                    node=keys.get(producer, "") if producer is not None else "",
                    operator=shorten(producer.op_type, 40) if producer is not None else "input",
                    dtype=str(value.dtype) if value.dtype is not None else value.type_text,
                    chips=chips,
                    place=places.place(site),
                    bytes=value_bytes(value, sizes),
                )
            )
    atoms = tuple(
        AtomFacts(
            index=number,
            text=clean(str(atom)),
            declared=not atom.operation,
            owner=owners[atom],
            example=_at(atom, sizes),
            axes=counts[atom],
        )
        for atom, number in index.items()
    )
    return AxesData(
        name=shorten(graph.name, 60),
        atoms=atoms,
        rows=tuple(rows),
        fixed=tuple(_fixed(item) for item in specialisations),
        sizes=tuple(sorted(sizes.items())),
        memory=memory_of(graph, sizes),
        left_out=len(shown) - len(rows),
    )


def _chips(
    value: Value,
    sizes: Mapping[str, int],
    index: dict[Atom, int],
    owners: dict[Atom, str],
    counts: dict[Atom, int],
) -> tuple[Chip, ...] | None:
    if value.shape is None:
        return None
    chips = []
    for dim in value.shape:
        if not isinstance(dim, Extent):
            chips.append(Chip("?" if dim is None else str(dim), (), dim))
            continue
        carried = dict.fromkeys([*dim.atoms, *_nested(dim.atoms)])
        for atom in carried:
            index.setdefault(atom, len(index))
            owners.setdefault(atom, shorten(value.name, 60))
            counts[atom] = counts.get(atom, 0) + 1
        chips.append(
            Chip(shorten(str(dim), 60), tuple(index[atom] for atom in carried), _at(dim, sizes))
        )
    return tuple(chips)


def _nested(atoms: Sequence[Atom]) -> Iterable[Atom]:
    """Declared symbols inside derived atoms: hovering ``width`` finds what depends on it."""
    for atom in atoms:
        for operand in atom.operands:
            for inner in operand.atoms:
                if not inner.operation:
                    yield inner
            yield from _nested(operand.atoms)


def _at(size: Atom | Extent, sizes: Mapping[str, int]) -> int | None:
    try:
        return size.evaluate(sizes)
    except (AxesError, ZeroDivisionError):
        return None


def _fixed(item: Any) -> Fixed:
    site = getattr(item, "site", None)
    return Fixed(
        extent=shorten(str(getattr(item, "extent", "")), 60),
        operation=shorten(str(getattr(item, "operation", "")), 60),
        value=shorten(str(getattr(item, "value", "")), 60),
        place=places.place(site),
        expression=shorten(site.expression, 120) if site is not None else "",
        message=shorten(str(getattr(item, "message", "")), 300),
    )


def axes_body(data: AxesData) -> str:
    """Inner HTML: atoms, values with chips, specialisations."""
    symbols = sum(atom.declared for atom in data.atoms)
    derived = len(data.atoms) - symbols
    facts = [f"{symbols} symbol{'s' if symbols != 1 else ''}"]
    if derived:
        facts.append(f"{derived} derived")
    parts = [
        f"<style>{_hover_rules(len(data.atoms))}</style>",
        page.head(f"Axes of {data.name}", *facts),
        _atom_list(data),
        _memory_line(data),
        page.table(
            ("operator", "value", "dtype", "axes", "bytes", "source"),
            (_row(row) for row in data.rows),
            caption="Axes of every value",
        ),
    ]
    if data.left_out:
        parts.append(f'<div class="om-status">{data.left_out} more values are not listed</div>')
    if data.fixed:
        parts.append(_fixed_list(data.fixed))
    return "".join(parts)


def _memory_line(data: AxesData) -> str:
    return f'<div class="om-status om-memory">{page.escape(_memory_text(data))}</div>'


def _memory_text(data: AxesData) -> str:
    """Where symbols have no size yet, what depends on them is unknown and told as such."""
    at = ", ".join(f"{name} = {size}" for name, size in data.sizes)
    return f"memory{f' at {at}' if at else ''}: {data.memory}"


def _hover_rules(count: int) -> str:
    return "".join(
        f".om-axes-view:has(.om-carries-{i}:hover) .om-carries-{i}"
        "{outline:2px solid var(--om-atom,var(--om-accent))}"
        for i in range(min(count, 64))
    )


def _atom_list(data: AxesData) -> str:
    if not data.atoms:
        return '<div class="om-atoms om-muted">Every size is fixed.</div>'
    rows = []
    for atom in data.atoms:
        size = "" if atom.example is None else f"= {atom.example}"
        kind = "declared" if atom.declared else f"derived, first in {atom.owner}"
        places_word = "axis" if atom.axes == 1 else "axes"
        rows.append(
            f"{_chip_html(atom.text, (atom.index,))} "
            f'<span class="om-mono">{page.escape(size)}</span> '
            f'<span class="om-muted">{page.escape(kind)}; on {atom.axes} {places_word}</span>'
        )
    return f'<div class="om-atoms">{"".join(rows)}</div>'


def _chip_html(label: str, atoms: Sequence[int], size: int | None = None) -> str:
    """One chip; a symbolic axis shows the size it has now as well."""
    if not atoms:
        return f'<span class="om-chip">{page.escape(label)}</span>'
    carries = " ".join(f"om-carries-{atom}" for atom in atoms)
    listed = " ".join(str(atom) for atom in atoms)
    now = "" if size is None else f' <span class="om-size">{size}</span>'
    return (
        f'<span class="om-chip om-atom-{atoms[0] % COLOURS} {carries}" data-atom="{atoms[0]}" '
        f'data-atoms="{listed}">{page.escape(label)}{now}</span>'
    )


def _row(row: ValueAxes) -> str:
    if row.chips is None:
        chips = '<span class="om-muted">rank unknown</span>'
    elif not row.chips:
        chips = '<span class="om-muted">scalar</span>'
    else:
        chips = " ".join(_chip_html(c.text, c.atoms, c.size) for c in row.chips)
    name = row.node or f"input:{row.name}"
    return (
        f'<tr data-name="{page.escape(name)}" tabindex="-1">'
        f"{page.cells(row.operator, row.name, row.dtype)}"
        f'<td><span class="om-chips">{chips}</span></td>'
        f'<td class="om-number">{"" if row.bytes is None else bytes_text(row.bytes)}</td>'
        f"{page.cells(row.place)}</tr>"
    )


def _fixed_list(fixed: Sequence[Fixed]) -> str:
    rows = (
        f"<tr>{page.cells(f.extent, f.operation, f.place, f.expression, f.message)}</tr>"
        for f in fixed
    )
    count = len(fixed)
    return (
        f"<details open><summary>{count} size{'s' if count != 1 else ''} used as a fixed number: "
        "the graph holds only where they keep that value</summary>"
        + page.table(("size", "used by", "source", "call", ""), rows)
        + "</details>"
    )


def _atom_text(atom: AtomFacts) -> str:
    size = "" if atom.example is None else f" = {atom.example}"
    kind = "declared" if atom.declared else f"derived, first in {atom.owner}"
    places_word = "axis" if atom.axes == 1 else "axes"
    return f"{atom.text}{size}  ({kind}; on {atom.axes} {places_word})"


def _sheet(data: AxesData) -> str:
    lines = [_atom_text(atom) for atom in data.atoms[:12]]
    if len(data.atoms) > len(lines):
        lines.append(f"{len(data.atoms) - len(lines)} more sizes")
    rows = [
        (
            sheet.cell(row.operator),
            sheet.cell(row.name),
            sheet.cell(row.dtype),
            [_sheet_chip(chip) for chip in (row.chips or ())[:8]]
            or sheet.cell("rank unknown" if row.chips is None else "scalar"),
            sheet.cell("" if row.bytes is None else bytes_text(row.bytes)),
        )
        for row in data.rows
    ]
    columns = ("operator", "value", "dtype", "axes", "bytes")
    return sheet.draw(f"Axes of {data.name}", [*lines, _memory_text(data)], columns, rows)


def _sheet_chip(chip: Chip) -> sheet.Chip:
    now = "" if chip.size is None or not chip.atoms else f" {chip.size}"
    colour = _INKS[chip.atoms[0] % COLOURS] if chip.atoms else _PLAIN_INK
    return sheet.Chip(f"{shorten(chip.text, 24)}{now}", colour)


def _text_lines(data: AxesData) -> list[str]:
    lines = [f"axes of {data.name}"]
    for atom in data.atoms:
        lines.append(f"  {_atom_text(atom)}")
    lines.append(f"  {_memory_text(data)}")
    rows, left = text.capped(
        (r.operator, r.name, f"{r.dtype}[{', '.join(c.text for c in r.chips or ())}]", r.place)
        for r in data.rows
    )
    lines.extend(text.columns(rows))
    if left or data.left_out:
        lines.append(f"  \N{HORIZONTAL ELLIPSIS} {left + data.left_out} more values")
    for fixed in data.fixed:
        lines.append(f"  fixed: {fixed.extent} by {fixed.operation}  {fixed.place}".rstrip())
    return lines
