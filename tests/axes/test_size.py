"""Sizes act as integers, stay exact in arithmetic, and tell when they become fixed numbers."""

import copy
import math
import numbers
import operator
import pickle
from collections import namedtuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onemodel.axes.extent import AxesError, Extent
from onemodel.axes.size import Size, contains_size, extent_of, plain, strip_sizes

batch, time = Extent.symbol("batch"), Extent.symbol("time")


class Log:
    """Two sizes that log their events."""

    def __init__(self, batch_size: int = 6, time_size: int = 4) -> None:
        self.events = []
        self.b = Size(batch, batch_size, self.events.append)
        self.t = Size(time, time_size, self.events.append)

    @property
    def operations(self) -> list[str]:
        return [event.operation for event in self.events]


@pytest.fixture
def log() -> Log:
    return Log()


BINARY = (
    operator.add,
    operator.sub,
    operator.mul,
    operator.floordiv,
    operator.mod,
)


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(BINARY),
    st.integers(1, 30),
    st.integers(1, 30),
    st.integers(-9, 9).filter(bool),
    st.sampled_from(["size", "int", "reflected", "numpy"]),
)
def test_integer_arithmetic_is_exact_and_silent(function, one, two, number, form):
    log = Log(one, two)
    left, right = {
        "size": (log.b, log.t),
        "int": (log.b, number),
        "reflected": (number, log.b),
        "numpy": (np.int64(number), log.b),
    }[form]
    result = function(left, right)
    assert log.events == []
    assert plain(result) == function(plain(left), plain(right))
    assert extent_of(result) == function(extent_of(left), extent_of(right))
    assert isinstance(result, int if extent_of(result).is_static else Size)


def test_a_result_that_no_assignment_changes_is_a_plain_integer(log):
    assert type(log.b - log.b) is int
    assert type(log.b * 0) is int
    assert type(log.b // log.b) is int
    assert log.events == []


def test_builtin_sums_products_and_small_powers_stay_exact(log):
    assert sum([log.b, log.t, 1]).extent == batch + time + 1
    assert math.prod([log.b, log.t]).extent == batch * time
    assert (log.b**2).extent == batch * batch
    assert (-log.b).extent == -batch
    assert (+log.b) is log.b
    assert divmod(log.b, 4)[1].extent == batch % 4
    assert divmod(13, log.b)[0].extent == 13 // batch
    assert log.events == []


@pytest.mark.parametrize(
    ("consume", "operation", "outcome"),
    [
        (lambda b: list(range(b)), "__index__", list(range(6))),
        (lambda b: np.zeros((b, 2)).shape, "__index__", (6, 2)),
        (lambda b: [0] * b, "__index__", [0] * 6),
        (lambda b: b * [0], "__index__", [0] * 6),
        (int, "__int__", 6),
        (float, "__float__", 6.0),
        (complex, "__complex__", 6 + 0j),
        (math.sqrt, "__float__", math.sqrt(6)),
        (lambda b: b / 0.1, "/", 6 / 0.1),
        (lambda b: 0.3 / b, "/", 0.3 / 6),
        (lambda b: b**-0.5, "**", 6**-0.5),
        (lambda b: 2**b, "**", 64),
        (lambda b: b << 1, "<<", 12),
        (lambda b: b >> 1, ">>", 3),
        (lambda b: b & 4, "&", 4),
        (lambda b: ~b, "~", -7),
        (lambda b: b * 0.5, "*", 3.0),
        (lambda b: 0.5 + b, "+", 6.5),
        (str, "__str__", "6"),
        (lambda b: f"{b}", "__format__", "6"),
        (lambda b: f"{b:03d}", "__format__", "006"),
        (hash, "__hash__", hash(6)),
        (lambda b: b in {5, 7}, "__hash__", False),
        (lambda b: b.bit_length(), "bit_length", 3),
        (np.sqrt, "numpy.sqrt", np.sqrt(6)),
        (lambda b: pow(b, 2, 5), "__index__", 1),
        (lambda b: pickle.loads(pickle.dumps(b)), "__reduce__", 6),
    ],
)
def test_becoming_a_fixed_number_is_told(log, consume, operation, outcome):
    assert consume(log.b) == outcome
    assert log.operations[0] == operation
    assert log.events[0].extent == batch
    assert log.events[0].value == 6


def test_an_array_of_sizes_holds_integers_and_is_told(log):
    array = np.array((log.b, 3))
    assert array.dtype.kind == "i"
    assert array.tolist() == [6, 3]
    assert log.operations[0] == "__array__"


def test_arrays_take_a_size_as_a_number_and_the_event_holds_no_contents(log):
    for product in (np.ones(2) * log.b, log.b * np.ones(2)):
        assert product.dtype == np.float64
        assert product.tolist() == [6.0, 6.0]
    assert len(log.events) == 2
    assert [event.outcome for event in log.events] == [None, None]


COMPARISONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
affine = st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(-3, 5))


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(COMPARISONS)), affine, affine, st.integers(1, 9), st.integers(1, 9))
def test_a_comparison_is_silent_only_if_no_assignment_changes_it(symbol, left, right, one, two):
    log = Log(one, two)
    sides = [log.b * x + log.t * y + c for x, y, c in (left, right)]
    outcome = COMPARISONS[symbol](*sides)
    assert outcome == COMPARISONS[symbol](*map(plain, sides))
    if any(isinstance(side, Size) for side in sides) and not log.events:
        for b in range(1, 12):
            for t in range(1, 12):
                values = [extent_of(s).evaluate({"batch": b, "time": t}) for s in sides]
                assert COMPARISONS[symbol](*values) == outcome
    for event in log.events:
        assert isinstance(event.other, Extent)


def test_a_branch_on_a_size_is_told_with_both_sides_and_its_outcome(log):
    assert log.b > 3
    assert log.b != log.t
    first, second = log.events
    assert (first.operation, first.extent, first.other, first.outcome) == (">", batch, 3, True)
    assert (second.operation, second.other, second.outcome) == ("!=", time, True)


def test_what_holds_at_every_size_is_not_told(log):
    assert log.b > 0
    assert log.b
    assert log.b != 0
    assert log.b + 1 > log.b
    assert log.b == log.b
    assert log.b * log.t >= log.b
    assert log.b % 4 < 4
    assert log.b is not None
    assert log.b != "6"
    assert log.events == []


def test_truth_is_told_where_the_size_can_be_zero(log):
    assert not (log.b - 6)
    assert log.operations == ["!="]


def test_a_reflected_comparison_with_an_array_scalar_knows_the_other_extent(log):
    assert np.int64(6) == log.b
    assert log.events[0].operation == "=="
    assert log.events[0].other == 6


def test_representation_names_the_symbol_and_is_silent(log):
    assert repr(log.b) == "Size(batch=6)"
    assert repr((log.b + 1, 3)) == "(Size(batch + 1=7), 3)"
    assert log.events == []


def test_a_size_is_an_integer_to_the_numeric_tower_but_no_int(log):
    assert isinstance(log.b, numbers.Integral)
    assert not isinstance(log.b, int)
    assert (log.b.real, log.b.numerator, log.b.conjugate()) == (log.b, log.b, log.b)
    assert (log.b.imag, log.b.denominator, log.b.is_integer()) == (0, 1, True)
    assert log.events == []


def test_rounding_and_copying_keep_the_size(log):
    for keep in (round, math.floor, math.ceil, math.trunc, copy.copy, copy.deepcopy, abs):
        assert keep(log.b) is log.b
    assert log.events == []


def test_a_refusing_listener_stops_the_consumption():
    def refuse(event):
        raise AxesError(f"{event.operation} on {event.extent}")

    size = Size(batch, 6, refuse)
    assert (size + 1).value == 7
    with pytest.raises(AxesError, match="__index__ on batch"):
        range(size)


def test_unknown_operands_are_left_to_the_other_side(log):
    class Other:
        def __rmul__(self, size):
            return ("reflected", size)

        def __array_ufunc__(self, *arguments, **options):
            return "theirs"

    marker, size = log.b * Other()
    assert marker == "reflected"
    assert size is log.b
    assert np.multiply(log.b, Other()) == "theirs"
    with pytest.raises(TypeError):
        log.b + "text"
    assert log.events == []


def test_a_size_derived_too_deeply_becomes_a_told_number(log):
    size = log.b
    for _ in range(80):
        size = (size + 1) // (size + log.t)
        if not isinstance(size, Size):
            break
    assert isinstance(size, int)
    assert log.operations == ["//"]


def test_sizes_are_found_and_stripped_in_nested_containers(log):
    Pair = namedtuple("Pair", "first second")
    nested = Pair([log.b, 1], {"k": (log.t, slice(log.b, None))})
    assert contains_size(nested)
    stripped = strip_sizes(nested)
    assert stripped == Pair([6, 1], {"k": (4, slice(6, None))})
    assert type(stripped) is Pair
    assert not contains_size(stripped)
    assert not contains_size((1, [2, "x"]))
    plain_list = [1, 2]
    assert strip_sizes(plain_list) is plain_list
    assert log.events == []


def test_plain_and_extent_refuse_what_is_no_integer():
    assert plain(np.int64(3)) == 3
    assert extent_of(np.int32(3)) == 3
    for value in (1.5, "3"):
        with pytest.raises(TypeError):
            plain(value)
        with pytest.raises(TypeError):
            extent_of(value)
