"""Symbolic sizes through files and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onemodel.axes.extent import AxesError, Extent
from onemodel.onnx_io.dims import read_dim

N, T = Extent.symbol("N"), Extent.symbol("time_steps")


@pytest.mark.parametrize(
    "extent",
    [
        N,
        2 * N,
        N * T,
        N + 1,
        N - 1,
        3 * (N + T),
        (N + 1) * T,
        N // 2,
        (N - 1) // 2,
        (N + 3).ceildiv(4),
        N % 3,
        (2 * N + T) % 4,
        N.maximum(T),
        N.minimum(T + 1) * 2,
        (N // T) * T,
        1 - N,
        -N,
        ((N - 1) // 2 - 1) // 2,
    ],
    ids=str,
)
def test_what_the_writer_writes_is_read_as_the_same_size(extent):
    assert read_dim(str(extent)) == extent


@pytest.mark.parametrize(
    ("text", "extent"),
    [
        ("2*N", 2 * N),
        ("N*2", 2 * N),
        ("N // 2", N // 2),
        ("N//2 + 1", N // 2 + 1),
        ("past_length + seq", Extent.symbol("past_length") + Extent.symbol("seq")),
        ("N*(N + 1)", N * (N + 1)),
    ],
)
def test_what_exporters_write_is_read_as_an_expression(text, extent):
    assert read_dim(text) == extent


@pytest.mark.parametrize(
    "text",
    [
        "batch-size",
        "seq/len",
        "?",
        "unk__12",
        "4xHw",
        "a b",
        "N +",
        "+ N",
        "(N",
        "N)",
        "f(N)",
        "floor(N)",
        "N // 0",
        "N % 0",
        "2**N",
        "名前",
        "a" * 500,
        "(" * 100 + "N" + ")" * 100,
        "N\n+ 1",
        "N...",
        "__import__('os')",
    ],
)
def test_everything_else_is_one_symbol(text):
    assert read_dim(text) == Extent.symbol(text)


@given(st.text("aN1 +-*/%(),.flor", min_size=1, max_size=30))
def test_no_text_is_too_much(text):
    found = read_dim(text)
    if not found.is_static:
        try:
            found.evaluate(dict.fromkeys(found.symbols(), 7))
        except (AxesError, ZeroDivisionError):
            return
