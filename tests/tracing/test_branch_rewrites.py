"""What is written instead of a branch, from the place that each version of Python reports."""

from __future__ import annotations

import pytest

from onemodel.errors import CallSite
from onemodel.tracing.branches import branch_rewrite


def site(line: str, expression: str) -> CallSite:
    column = line.index(expression)
    return CallSite("model.py", 3, 3, column, column + len(expression), "forward", line)


@pytest.mark.parametrize(
    ("line", "expression", "is_bool", "offered"),
    [
        ("    if not x.sum():", "not x.sum()", False, "om.where(om.logical_not(x.sum()), a, b)"),
        ("    if not x.sum():", "x.sum()", False, "om.where(om.logical_not(x.sum()), a, b)"),
        ("    if x.sum():", "x.sum()", False, "om.where(x.sum() != 0, a, b)"),
        ("    if mask.any():", "mask.any()", True, "om.where(mask.any(), a, b)"),
        ("    if knot:", "knot", False, "om.where(knot != 0, a, b)"),
        ("    if x.sum() > 3:", "x.sum() > 3", True, "om.where(x.sum() > 3, a, b)"),
        ("    if not x > 3:", "x > 3", True, "om.where(om.logical_not(x > 3), a, b)"),
    ],
)
def test_the_condition_is_what_python_would_ask(line, expression, is_bool, offered):
    (rewrite,) = branch_rewrite(site(line, expression), is_bool)
    assert rewrite.code == offered


def test_a_loop_goes_on_while_the_number_is_not_zero():
    (rewrite,) = branch_rewrite(site("    while x.sum():", "x.sum()"), False)
    assert "om.where(x.sum() != 0, update(x), x)" in rewrite.code
