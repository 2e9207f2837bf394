"""The page of operators names every one of them once, and what it says of opsets is true."""

from __future__ import annotations

import re
from pathlib import Path

import onemodel as om
from onemodel.operators import TABLE

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "operators.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `([\w.]+)\(.*\| ([^|]+) \|$", PAGE, re.MULTILINE))


def test_every_public_operator_stands_there_once() -> None:
    named = re.findall(r"^\| `([\w.]+)\(", PAGE, re.MULTILINE)
    assert len(named) == len(set(named))
    assert {name for name, operator in TABLE.items() if operator.public} <= set(named)


def test_what_is_eager_only_is_refused_by_a_trace() -> None:
    assert ROWS["nonzero"] == ROWS["median"] == ROWS["rand"] == "eager only"
    assert ROWS["softmax"] == "7 (anew: 13)"
    assert ROWS["masked_fill"].endswith("composed")
    try:
        om.trace(lambda x: om.median(x), om.ones(3))
    except om.TraceException as error:
        assert error.operation == "median"
    else:
        raise AssertionError("median was traced")
