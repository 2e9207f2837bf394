"""``%%trace``: the cell below is the model, its last expression the output."""

from __future__ import annotations

import argparse
import ast
import shlex
from collections.abc import Callable
from typing import Any

from onemodel.tracing.trace import trace
from onemodel_widgets.graph import GraphView

NAME = "trace"


class UsageError(ValueError):
    """A ``%%trace`` line or cell that cannot be read; the message says what to write."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(f"%%trace: {message}\n{self.format_usage()}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%trace", add_help=False, description=__doc__)
    parser.add_argument(
        "-i",
        "--input",
        action="append",
        default=[],
        metavar="NAME[:AXIS,...]",
        help="a tensor of the notebook; a name per axis, _ for a fixed one",
    )
    parser.add_argument("-o", "--output", metavar="NAME", help="keep the TracedModel as NAME")
    parser.add_argument("--opset", type=int, default=20)
    return parser


def trace_cell(shell: Any, line: str, cell: str) -> GraphView:
    """Traces the cell and returns the view of its graph.

    ``%%trace -i x:batch,_ -o traced`` takes the notebook's ``x`` as an input whose first
    axis is the symbol ``batch``. Names the cell assigns stay inside it.

    Raises:
        UsageError: for options that cannot be read, unknown inputs, a cell without a value.
    """
    options = _parser().parse_args(shlex.split(line))
    names, axes = [], {}
    for text in options.input:
        name, _, symbols = text.partition(":")
        if name not in shell.user_ns:
            raise UsageError(f"%%trace: there is no {name!r} in this notebook to take as an input")
        names.append(name)
        parts = [part.strip() for part in symbols.split(",")] if symbols else []
        axes[name] = [None if part in ("", "_") else part for part in parts]
    if not names:
        raise UsageError("%%trace: name the inputs, for instance %%trace -i x:batch,_")
    model = _function(shell, names, line, cell)
    declared = {name: symbols for name, symbols in axes.items() if any(symbols)}
    traced = trace(
        model, *(shell.user_ns[name] for name in names), axes=declared, opset=options.opset
    )
    if options.output:
        shell.user_ns[options.output] = traced
    return GraphView(traced)


def _function(shell: Any, names: list[str], line: str, cell: str) -> Callable[..., Any]:
    """The cell as a function of its inputs, compiled so that its calls keep cell and line."""
    tree = ast.parse(cell)
    if not tree.body or not isinstance(tree.body[-1], ast.Expr):
        raise UsageError("%%trace: the last line of the cell has to be the output's value")
    last = tree.body[-1]
    tree.body[-1] = ast.copy_location(ast.Return(last.value), last)
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(name) for name in names],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    definition = ast.FunctionDef("cell", arguments, tree.body, [], lineno=1, col_offset=0)
    module = ast.fix_missing_locations(ast.Module([definition], []))
    ast.increment_lineno(module, 1)  # the magic is the first line of the cell
    whole = f"%%{NAME} {line}\n{cell}"
    # execution_count may run ahead of the cell; the raw history ends with it.
    file = shell.compile.cache(whole, len(shell.history_manager.input_hist_raw) - 1)
    space: dict[str, Any] = {}
    exec(compile(module, file, "exec"), shell.user_ns, space)
    return space["cell"]


def register(shell: Any) -> None:
    """Makes ``%%trace`` known to ``shell``."""

    def magic(line: str, cell: str) -> GraphView:
        return trace_cell(shell, line, cell)

    magic.__doc__ = f"{trace_cell.__doc__}\n{_parser().format_help()}"
    shell.register_magic_function(magic, "cell", NAME)


def unregister(shell: Any) -> None:
    """Takes ``%%trace`` away again."""
    shell.magics_manager.magics["cell"].pop(NAME, None)
