"""What can be refused, and how a refusal is told. Imports nothing of ours.

A refusal is data first: kind, stable code, the user's call with its exact
columns, the chain of calls that led from an input to it, and what to write
instead. Text, terminal, notebook card and JSON are projections of that data.
"""

from __future__ import annotations

import ast
import enum
import linecache
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

SCHEMA_VERSION = 1
"""Version of :meth:`TraceException.to_dict`; a new key raises the minor meaning only."""

_STATEMENTS = ("with ", "with(", "for ", "async ", "assert", "if ", "elif ", "while ")
_CELL_FILE = re.compile(r"ipykernel_\d+[/\\]\d+\.py$")


class TraceErrorKind(enum.Enum):
    """The six ways in which a recorded run can stop being the model."""

    DATA_DEPENDENT = "DataDependent"
    IN_PLACE_MUTATION = "InPlaceMutation"
    NO_GRAD_IN_TRACE = "NoGradInTrace"
    SYMBOLIC_SHAPE = "SymbolicShape"
    INVALID_USAGE = "InvalidUsage"
    UNSUPPORTED_OPERATION = "UnsupportedOperation"

    @property
    def title(self) -> str:
        """The kind as it is spelt in messages, for instance ``DataDependent``."""
        return self.value


@dataclass(frozen=True)
class CallSite:
    """One call in the user's own source.

    ``line`` counts from 1. ``column`` and ``end_column`` count characters from 0
    and are None where Python kept no columns (``-X no_debug_ranges``, ``exec``
    without source). ``source`` is the text of lines ``line`` to ``end_line``,
    kept here because a notebook cell is gone after a restart. ``cell`` is the
    execution count of the cell, when the code came from one.
    """

    file: str
    line: int
    end_line: int
    column: int | None
    end_column: int | None
    function: str
    source: str
    cell: int | None = None

    @property
    def place(self) -> str:
        """``model.py:9`` or ``In[6]:4``: what a reader looks for."""
        if self.cell is not None:
            return f"In[{self.cell}]:{self.line}"
        if _CELL_FILE.search(self.file):
            return f"cell:{self.line}"
        return f"{self.file}:{self.line}"

    @property
    def expression(self) -> str:
        """The text of the call itself, or the whole line where columns are unknown."""
        lines = self.source.split("\n")
        if self.column is None or self.end_column is None:
            return lines[0].strip()
        if self.line == self.end_line:
            return lines[0][self.column : self.end_column]
        middle = [lines[0][self.column :], *lines[1:-1], lines[-1][: self.end_column]]
        return " ".join(part.strip() for part in middle)

    @property
    def underline(self) -> str:
        """A line of carets below the first source line, as wide as the expression on it."""
        first = self.source.split("\n")[0]
        if self.column is None:
            start, end = len(first) - len(first.lstrip()), len(first.rstrip())
        else:
            start = self.column
            one_line = self.line == self.end_line and self.end_column is not None
            end = self.end_column if one_line else len(first.rstrip())  # type: ignore[assignment]
        return " " * start + "^" * max(1, (end or 0) - start)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form, with the derived ``place`` and ``expression``."""
        return {
            "file": self.file,
            "cell": self.cell,
            "line": self.line,
            "end_line": self.end_line,
            "column": self.column,
            "end_column": self.end_column,
            "function": self.function,
            "source": self.source,
            "place": self.place,
            "expression": self.expression,
        }


def call_site(code: CodeType, lasti: int, cell: int | None = None) -> CallSite:
    """The call that ``code`` was executing at instruction offset ``lasti``.

    Columns come from PEP 657 positions, which count UTF-8 bytes; they are
    turned into characters here. Never raises: what Python did not keep is None.
    """
    line, end_line, column, end_column = _narrow(code, *_positions(code, lasti))
    lines = [linecache.getline(code.co_filename, n).rstrip("\n") for n in range(line, end_line + 1)]
    if column is not None and lines[0]:
        column = _characters(lines[0], column)
    if end_column is not None and lines[-1]:
        end_column = _characters(lines[-1], end_column)
    return CallSite(
        file=code.co_filename,
        line=line,
        end_line=end_line,
        column=column,
        end_column=end_column,
        function=code.co_qualname,
        source="\n".join(lines),
        cell=cell,
    )


def _positions(code: CodeType, lasti: int) -> tuple[int, int, int | None, int | None]:
    for index, position in enumerate(code.co_positions()):
        if index == lasti // 2:
            line, end_line, column, end_column = position
            if line is None:
                break
            if column is None or end_column is None or end_line is None:
                return line, line, None, None
            return line, end_line, column, end_column
    return code.co_firstlineno, code.co_firstlineno, None, None


def _narrow(
    code: CodeType, line: int, end_line: int, column: int | None, end_column: int | None
) -> tuple[int, int, int | None, int | None]:
    """The expression that a whole statement evaluates, where Python points at the statement.

    Entering a ``with`` block, starting a ``for`` loop, an ``assert``, ``if not`` and ``while not``
    have the whole statement as their place.
    """
    if column is None or end_column is None:
        return line, end_line, column, end_column
    lines = [linecache.getline(code.co_filename, n) for n in range(line, end_line + 1)]
    first = lines[0].encode("utf-8")[column:].decode("utf-8", errors="ignore")
    if not first.startswith(_STATEMENTS):
        return line, end_line, column, end_column
    if first.startswith("elif "):
        first = "if   " + first[5:]  # as wide, and a statement by itself
    try:
        (statement,) = ast.parse(textwrap.dedent("".join([" " * column + first, *lines[1:]]))).body
    except (SyntaxError, ValueError):
        return line, end_line, column, end_column
    part: ast.expr | None = None
    if isinstance(statement, (ast.With, ast.AsyncWith)) and len(statement.items) == 1:
        part = statement.items[0].context_expr
    elif isinstance(statement, (ast.For, ast.AsyncFor)):
        part = statement.iter
    elif isinstance(statement, (ast.Assert, ast.If, ast.While)):
        part = statement.test
    if part is None or part.end_lineno is None or part.end_col_offset is None:
        return line, end_line, column, end_column
    return (
        line + part.lineno - 1,
        line + part.end_lineno - 1,
        column + part.col_offset,
        column + part.end_col_offset,
    )


def _characters(text: str, byte_offset: int) -> int:
    return len(text.encode("utf-8")[:byte_offset].decode("utf-8", errors="ignore"))


@dataclass(frozen=True)
class ProvenanceStep:
    """One value on the way from an input to the offence.

    ``value`` is its graph name, ``operation`` what made it (``input`` for an
    input), ``shape`` its shape with symbols, for instance ``[batch, 4]``.
    """

    value: str
    operation: str
    shape: str
    dtype: str
    site: CallSite | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "operation": self.operation,
            "shape": self.shape,
            "dtype": self.dtype,
            "site": self.site.to_dict() if self.site else None,
        }


@dataclass(frozen=True)
class AxisInvolved:
    """A symbolic axis that takes part in a refusal: ``extent`` as text, its example size."""

    value: str
    axis: int | None
    extent: str
    example: int

    def to_dict(self) -> dict[str, Any]:
        return {
            "value": self.value,
            "axis": self.axis,
            "extent": self.extent,
            "example": self.example,
        }


@dataclass(frozen=True)
class Rewrite:
    """Something to write instead: a sentence, and code where a pattern is known."""

    title: str
    code: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, "code": self.code}


@dataclass(eq=False)
class TraceException(Exception):
    """A call that tracing cannot follow, refused where it stands.

    Attributes:
        kind: one of the six :class:`TraceErrorKind`.
        code: stable identifier such as ``OM101``; the key of its lesson.
        operation: what was asked for, in the user's words (``bool()``).
        message: one sentence: what happened and why it cannot be traced.
        call_site: the innermost user call, or None when no user frame exists.
        call_chain: user frames from the outermost to the innermost.
        provenance: from an input to the offending value, shortest path, capped.
        axes: symbolic axes involved.
        suggestions: rewrites that work.
        partial: the graph captured so far (a ``onemodel.graph.Graph``), or None.
        value: graph name of the offending value, or "".
    """

    kind: TraceErrorKind
    code: str
    operation: str
    message: str
    call_site: CallSite | None = None
    call_chain: Sequence[CallSite] = ()
    provenance: Sequence[ProvenanceStep] = ()
    axes: Sequence[AxisInvolved] = ()
    suggestions: Sequence[Rewrite] = ()
    value: str = ""
    partial: Any = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__init__(self.message)

    @property
    def title(self) -> str:
        return f"{self.kind.title} {self.code}"

    @property
    def docs(self) -> str:
        """Anchor of the lesson in the documentation."""
        return f"limits/{self.code}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """The whole refusal as plain text: what, where, where from, what instead."""
        yield f"{self.title}: {self.message}"
        if self.call_site is not None:
            yield f"  --> {self.call_site.place} in {self.call_site.function}"
            source = self.call_site.source.split("\n")[0]
            if source:
                yield f"   |  {source}"
                yield f"   |  {self.call_site.underline}"
        outer = list(self.call_chain)[:-1]
        if outer:
            yield "  called from:"
            for site in outer[-6:]:
                yield f"    {site.place} in {site.function}: {site.expression}"
        if self.provenance:
            yield "  how the value came to be traced:"
            for step in self.provenance:
                where = step.site.place if step.site else ""
                text = step.site.expression if step.site else ""
                head = f"    {step.value} = {step.operation} {step.dtype}{step.shape}"
                yield f"{head}   {where}   {text}".rstrip()
        for axis in self.axes:
            where = "" if axis.axis is None else f" (axis {axis.axis} of {axis.value})"
            yield f"  axis {axis.extent}{where} is {axis.example} in the example"
        for rewrite in self.suggestions:
            yield f"  instead: {rewrite.title}"
            for line in rewrite.code.splitlines():
                yield f"      {line}"

    def __rich__(self) -> Any:
        """The refusal for a terminal: ``rich.print(error)``. Nothing in it is read as markup."""
        from rich.console import Group
        from rich.panel import Panel
        from rich.text import Text

        parts: list[Any] = [Text(self.message)]
        site = self.call_site
        if site is not None:
            parts.append(Text(f"\n{site.place} in {site.function}", style="dim"))
            first = site.source.split("\n")[0]
            if first:
                code = Text(f"  {first}\n  ")
                code.append(site.underline, style="bold red")
                parts.append(code)
        if self.provenance:
            parts.append(Text("\nhow the value came to be traced", style="bold"))
            for step in self.provenance:
                where = f"  {step.site.place}  {step.site.expression}" if step.site else ""
                line = Text(f"  {step.value} = {step.operation} {step.dtype}{step.shape}")
                parts.append(line.append(where, style="dim"))
        for axis in self.axes:
            parts.append(Text(f"axis {axis.extent} is {axis.example} in the example"))
        for rewrite in self.suggestions:
            parts.append(Text(f"\ninstead: {rewrite.title}", style="bold green"))
            if rewrite.code:
                parts.append(Text("\n".join(f"  {n}" for n in rewrite.code.splitlines())))
        return Panel(Group(*parts), title=Text(self.title, style="bold red"), title_align="left")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able form with a schema version; holds names and sizes, never array contents."""
        return {
            "schema": SCHEMA_VERSION,
            "kind": self.kind.name,
            "code": self.code,
            "title": self.title,
            "operation": self.operation,
            "message": self.message,
            "value": self.value,
            "docs": self.docs,
            "call_site": self.call_site.to_dict() if self.call_site else None,
            "call_chain": [site.to_dict() for site in self.call_chain],
            "provenance": [step.to_dict() for step in self.provenance],
            "axes": [axis.to_dict() for axis in self.axes],
            "suggestions": [rewrite.to_dict() for rewrite in self.suggestions],
        }

    def __reduce__(self) -> tuple[Any, ...]:
        # The partial graph may hold tensors of any size; it stays behind.
        return (
            _rebuild,
            (
                self.kind.name,
                self.code,
                self.operation,
                self.message,
                self.call_site,
                tuple(self.call_chain),
                tuple(self.provenance),
                tuple(self.axes),
                tuple(self.suggestions),
                self.value,
            ),
        )


def _rebuild(kind: str, *rest: Any) -> TraceException:
    return TraceException(TraceErrorKind[kind], *rest)
