"""What to write instead of a branch on a value, in the user's own terms."""

from __future__ import annotations

import ast
import re

from onemodel.errors import CallSite, Rewrite

_NEGATED = re.compile(r"\bnot\s*$")
_ELEMENTWISE = {"max": "maximum", "min": "minimum"}


def branch_rewrite(site: CallSite, is_bool: bool = True) -> list[Rewrite]:
    """A rewrite of the statement or expression at ``site``, where it is a plain one.

    ``is_bool``: whether the value that was asked is a bool; numbers count by being other than 0.
    """
    tree = _parse(site.expression)
    if tree is None:
        return []
    line = site.source.split("\n")[0]
    if _NEGATED.search(line[: site.column or 0]):
        # From 3.12 on the place of `if not x` is that of x.
        tree = ast.UnaryOp(ast.Not(), tree)
    line = line.strip()
    condition = graph_form(tree)
    if not is_bool and not isinstance(tree, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        condition = ast.unparse(ast.Compare(tree, [ast.NotEq()], [ast.Constant(0)]))
    if line.startswith("assert "):
        return [Rewrite("check before the model runs, on the arrays", f"assert {site.expression}")]
    if line.startswith("while "):
        return [
            Rewrite(
                "a fixed number of steps",
                f"for _ in range(steps):\n    x = om.where({condition}, update(x), x)",
            )
        ]
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and len(tree.args) == 2:
        name = _ELEMENTWISE.get(tree.func.id)
        if name is not None:
            arguments = ", ".join(ast.unparse(a) for a in tree.args)
            return [Rewrite("the element-wise form", f"om.{name}({arguments})")]
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or) and len(tree.values) == 2:
        given, default = map(ast.unparse, tree.values)
        return [
            Rewrite(
                "ask whether it was given, not what it holds",
                f"{given} if {given} is not None else {default}",
            )
        ]
    if line.startswith(("if ", "elif ")) or isinstance(tree, (ast.Compare, ast.UnaryOp)):
        return [Rewrite("choose inside the graph", f"om.where({condition}, a, b)")]
    return []


def graph_form(node: ast.expr) -> str:
    """``node`` without the truth values that Python itself takes: chains, ``in``, ``not``."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"om.logical_not({graph_form(node.operand)})"
    if isinstance(node, ast.BoolOp):
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        return _fold(name, [graph_form(value) for value in node.values])
    if not isinstance(node, ast.Compare):
        return ast.unparse(node)
    if isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return _membership(node)
    sides = [node.left, *node.comparators]
    links = [
        ast.unparse(ast.Compare(left, [operation], [right]))
        for left, operation, right in zip(sides, node.ops, sides[1:], strict=False)
    ]
    return _fold("logical_and", links)


def _membership(node: ast.Compare) -> str:
    (choices,) = node.comparators[:1]
    if not isinstance(choices, (ast.List, ast.Tuple, ast.Set)) or not choices.elts:
        return ast.unparse(node)
    equal = [ast.unparse(ast.Compare(node.left, [ast.Eq()], [item])) for item in choices.elts]
    found = _fold("logical_or", equal)
    return found if isinstance(node.ops[0], ast.In) else f"om.logical_not({found})"


def _fold(name: str, parts: list[str]) -> str:
    result, *rest = parts
    for part in rest:
        result = f"om.{name}({result}, {part})"
    return result


def _parse(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None
