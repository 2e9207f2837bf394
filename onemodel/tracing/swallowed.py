"""Refusals that the model caught: where, and how they stay attached to what happens next."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from dataclasses import replace

from onemodel.errors import TraceException
from onemodel.tracing import sites

_CATCH_ALL = {"Exception", "BaseException", "TraceException"}


def name_catcher(error: TraceException) -> TraceException:
    """Say in the message where ``error`` was caught, if it was, by the user's own code."""
    traceback = error.__traceback__
    if traceback is None or sites.is_library(traceback.tb_frame.f_code.co_filename):
        return error
    site = sites.resolve((traceback.tb_frame.f_code, traceback.tb_lasti))
    if site is None:
        return error
    line = catching_line(site.file, traceback.tb_lineno)
    if line is not None:
        text = linecache.getline(site.file, line).strip()
        place = replace(site, line=line).place
        error.message = (
            f"{error.message.rstrip('.')}. The refusal was caught at {place} ({text}), "
            "but a run that was refused anywhere has no graph"
        )
    return error


def catching_line(file: str, line: int) -> int | None:
    """The line of the ``except`` (or ``with suppress``) that catches what ``line`` raises."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return None
    inner_first = sorted(_guards(tree, line), key=lambda node: node.lineno, reverse=True)
    for node in inner_first:
        if isinstance(node, ast.With):
            return node.lineno
        for handler in node.handlers:
            if handler.type is None or _CATCH_ALL & _names(handler.type):
                return handler.lineno
    return None


def _guards(tree: ast.Module, line: int) -> Iterator[ast.Try | ast.With]:
    """``try`` statements and ``with suppress(...)`` whose body holds ``line``."""
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Try, ast.With)):
            continue
        inside = node.body[0].lineno <= line <= (node.body[-1].end_lineno or 0)
        if inside and (isinstance(node, ast.Try) or _suppresses(node)):
            yield node


def _suppresses(node: ast.With) -> bool:
    return any("suppress" in _names(item.context_expr) for item in node.items)


def _names(expression: ast.expr) -> set[str]:
    found = set()
    for node in ast.walk(expression):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
    return found


def attach(error: BaseException, refusal: TraceException) -> None:
    """Hang ``refusal`` below ``error`` as its context, where it is not already in the chain."""
    last = error
    seen = {id(error)}
    while (cause := last.__cause__ or last.__context__) is not None and id(cause) not in seen:
        seen.add(id(cause))
        last = cause
    if id(refusal) not in seen:
        last.__context__ = refusal
