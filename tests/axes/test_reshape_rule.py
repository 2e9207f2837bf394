"""The reshape rule: exact where sizes kept their symbol, by groups where they did not."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onemodel.axes.extent import AxesError, Extent, as_extent, axes_text, evaluate_axes
from onemodel.axes.rules import fresh_sizes, reshape, solve_reshape
from onemodel.axes.size import Size

B, T, W = (Extent.symbol(name) for name in ("b", "t", "w"))
EXAMPLE = {"b": 3, "t": 5, "w": 7}
PRIMES = (3, 5, 7, 11, 13, 17)


def axes_of(*sizes):
    return tuple(map(as_extent, sizes))


@st.composite
def factored(draw):
    """A shape whose sizes are products, and the factors in order."""
    choices = [B, T, W, *map(Extent.of, (1, 2, 4))]
    return draw(st.lists(st.sampled_from(choices), min_size=1, max_size=6))


@st.composite
def merged(draw, factors):
    """The factors multiplied in runs: a shape with the same elements in the same order."""
    result, current = [], None
    for factor in factors:
        current = factor if current is None else current * factor
        if draw(st.booleans()):
            result.append(current)
            current = None
    return tuple(result if current is None else [*result, current])


@settings(max_examples=150, deadline=None)
@given(st.data(), st.permutations(PRIMES))
def test_sizes_that_kept_their_symbol_are_exact(data, primes):
    factors = data.draw(factored())
    source, target = data.draw(merged(factors)), data.draw(merged(factors))
    example = dict(zip("btw", primes, strict=False))
    assert reshape(source, target, example) == target
    open_axis = data.draw(st.integers(0, len(target) - 1))
    rest = math.prod(evaluate_axes(target, example)) // evaluate_axes(target, example)[open_axis]
    if rest:
        asked = [-1 if i == open_axis else size for i, size in enumerate(target)]
        assert reshape(source, asked, example) == target


@settings(max_examples=150, deadline=None)
@given(st.data(), st.permutations(PRIMES), st.permutations(PRIMES))
def test_plain_numbers_find_their_symbols_back_or_are_refused(data, primes, others):
    factors = data.draw(factored())
    source, target = data.draw(merged(factors)), data.draw(merged(factors))
    example = dict(zip("btw", primes, strict=False))
    numbers = list(evaluate_axes(target, example))
    try:
        solution = solve_reshape(source, numbers, example)
    except AxesError as error:
        assert error.code == "OM407"
        return
    assert list(evaluate_axes(solution.axes, example)) == numbers
    elsewhere = dict(zip("btw", others, strict=False))
    array = np.zeros(evaluate_axes(source, elsewhere), bool)
    array.reshape(evaluate_axes(solution.axes, elsewhere))
    symbolic = [i for i, extent in enumerate(solution.axes) if not extent.is_static]
    assert [place for place, _ in solution.assumed] == symbolic


@settings(max_examples=100, deadline=None)
@given(st.data(), st.permutations(PRIMES))
def test_distinct_primes_and_unmerged_axes_give_one_answer(data, primes):
    symbols = data.draw(st.permutations([B, T, W, Extent.of(8)]))
    example = dict(zip("btw", primes, strict=False))
    source = tuple(symbols)
    target = data.draw(merged(symbols))
    assert reshape(source, evaluate_axes(target, example), example) == target


@pytest.mark.parametrize(
    ("source", "target", "result"),
    [
        ((B, T, 64), (B * T, -1), "[b*t, 64]"),
        ((B, T, 64), (-1, 64), "[b*t, 64]"),
        ((B, T, 64), (B, T, 8, 8), "[b, t, 8, 8]"),
        ((B, T, 64), (3, 5, 8, 8), "[b, t, 8, 8]"),
        ((B, T, 64), (3, -1, 8, 8), "[b, t, 8, 8]"),
        ((B, 8, 4, 4), (B, -1), "[b, 128]"),
        ((B, 8, W, W), (B, 8, -1), "[b, 8, w*w]"),
        ((B, 8, W, W), (3, 8, 49), "[b, 8, w*w]"),
        ((B, T), (15,), "[b*t]"),
        ((B, T), (B, 5, -1), "[b, t, 1]"),
        ((B, T), (T, B), "[t, b]"),
        ((2 * B, T), (B, 2, T), "[b, 2, t]"),
        ((B * T, 8), (B, T, 8), "[b, t, 8]"),
        ((B + 1, 4), (4, 4), "[b + 1, 4]"),
        ((1, B), (1, 1, 3, 1), "[1, 1, b, 1]"),
        ((B, 1, 1), (B, -1), "[b, 1]"),
        ((B // 3, T), (1, 5), "[floor(b/3), t]"),
        ((6, 2), (3, -1), "[3, 4]"),
        ((), (1, 1), "[1, 1]"),
        ((1,), (), "[]"),
        ((0, B), (B, 0), "[b, 0]"),
    ],
)
def test_everyday_reshapes_follow_the_symbols(source, target, result):
    assert axes_text(reshape(axes_of(*source), target, EXAMPLE)) == result


def test_sizes_may_be_given_as_they_were_read_and_are_not_consumed():
    events = []
    size = Size(B, 3, events.append)
    assert reshape(axes_of(B, T, 4), (size * 4, -1), EXAMPLE) == (4 * B, T)
    assert reshape(axes_of(B, T, 4), (np.int64(15), np.int64(4)), EXAMPLE) == (B * T, 4)
    assert events == []


def test_a_plain_number_taken_for_a_symbol_is_named_in_the_solution():
    solution = solve_reshape(axes_of(B, 4), (3, -1), EXAMPLE)
    assert solution.axes == (B, 4)
    assert solution.assumed == ((0, B),)
    assert solve_reshape(axes_of(B, 4), (B, -1), EXAMPLE).assumed == ()
    assert solve_reshape(axes_of(B, 4), (-1, 4), EXAMPLE).assumed == ()


@pytest.mark.parametrize(
    ("source", "target", "first", "second"),
    [
        ((B, 4), (2, -1), "[2, 2*b]", "[b, 4]"),
        ((4, B), (-1, 2), "[2*b, 2]", "[4, b]"),
        ((B, 8), (4, 4), "[2*b, 4]", "[4, 2*b]"),
    ],
)
def test_two_solutions_are_both_listed_with_another_size_to_trace_with(
    source, target, first, second
):
    with pytest.raises(AxesError) as caught:
        reshape(axes_of(*source), target, {"b": 2})
    assert caught.value.code == "OM407"
    assert first in caught.value.message
    assert second in caught.value.message
    assert "b=3" in caught.value.rewrites[0][0]


def test_a_head_count_equal_to_the_batch_does_no_harm_where_sizes_are_used():
    assert reshape(axes_of(B, 16, 8), (B, 16, 2, 4), {"b": 2}) == axes_of(B, 16, 2, 4)
    assert reshape(axes_of(B, 8), (-1, 4), {"b": 2}) == axes_of(2 * B, 4)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((B, T), (B + 2, 3)),
        ((B + T,), (2, 4)),
        ((B, 4), (B + 1, 3)),
    ],
)
def test_element_counts_that_agree_in_the_example_only_are_refused(source, target):
    with pytest.raises(AxesError) as caught:
        reshape(axes_of(*source), target, EXAMPLE)
    assert caught.value.code == "OM403"


def test_shapes_that_do_not_fit_the_example_are_refused():
    with pytest.raises(AxesError, match="cannot be reshaped"):
        reshape(axes_of(B, 4), (5, -1), EXAMPLE)
    with pytest.raises(AxesError, match="more than one"):
        reshape(axes_of(B, 4), (-1, -1), EXAMPLE)
    with pytest.raises(AxesError, match="cannot be reshaped"):
        reshape(axes_of(B, 4), (-2, -6), EXAMPLE)


def test_proposed_sizes_are_distinct_primes_that_the_model_does_not_use():
    assert fresh_sizes(["t", "b"], [3, 7]) == {"b": 5, "t": 11}
    many = fresh_sizes([f"s{i}" for i in range(20)])
    assert len(set(many.values())) == 20
    assert all(size % n for size in many.values() for n in range(2, size))
